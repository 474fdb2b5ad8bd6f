//! What must not be destroyed, and what must arrive whole.

mod support;

use std::time::Duration;

use bytes::Bytes;
use http::Method;
use serde_json::{Value, json};
use support::{CONFIG_MAPS, Client, Masthead, PATIENCE, Protocol, config_map, within};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::sleep;

async fn call(client: &Client, method: Method, path: &str, body: &Value) -> (u16, Value) {
    let body = Bytes::from(body.to_string());
    let answer = client
        .call(method, path, Some(("application/json", body)))
        .await;
    (answer.status, answer.json())
}

#[tokio::test]
async fn a_dry_run_in_the_body_of_a_delete_deletes_nothing() {
    let server = Masthead::ephemeral();
    let client = server.client();
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"},
        "spec": {"containers": [{"name": "c", "image": "i"}]}});
    let pods = "/api/v1/namespaces/default/pods";
    client.post(pods, &pod).await.ok();
    client.post(CONFIG_MAPS, &config_map("a", "1")).await.ok();
    let options = json!({"kind": "DeleteOptions", "apiVersion": "v1", "dryRun": ["All"]});
    let eviction = json!({"apiVersion": "policy/v1", "kind": "Eviction",
        "metadata": {"name": "p"}, "deleteOptions": {"dryRun": ["All"]}});
    let one = format!("{CONFIG_MAPS}/a");
    for (method, path, body) in [
        (Method::DELETE, one.as_str(), &options),
        (Method::DELETE, CONFIG_MAPS, &options),
        (Method::POST, &format!("{pods}/p/eviction"), &eviction),
    ] {
        let (status, answer) = call(&client, method, path, body).await;
        assert!(status < 300, "{path}: {answer}");
    }
    client.get(&one).await.ok();
    client.get(&format!("{pods}/p")).await.ok();
}

#[tokio::test]
async fn an_eviction_that_a_budget_does_not_allow_deletes_nothing() {
    let server = Masthead::ephemeral();
    let client = server.client();
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "labels": {"app": "a"}},
        "spec": {"containers": [{"name": "c", "image": "i"}]}});
    let pods = "/api/v1/namespaces/default/pods";
    client.post(pods, &pod).await.ok();
    let running = json!({"status": {"phase": "Running"}});
    let merge = Bytes::from(running.to_string());
    let status = format!("{pods}/p/status");
    let body = Some(("application/merge-patch+json", merge));
    client.call(Method::PATCH, &status, body).await.ok();
    let budgets =
        |namespace: &str| format!("/apis/policy/v1/namespaces/{namespace}/poddisruptionbudgets");
    let budget = json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
        "metadata": {"name": "b"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "a"}}}});
    client.post(&budgets("default"), &budget).await.ok();
    client.post(&budgets("kube-system"), &budget).await.ok();
    let eviction =
        json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "p"}});
    let path = format!("{pods}/p/eviction");
    let (code, answer) = call(&client, Method::POST, &path, &eviction).await;
    assert_eq!(code, 429, "{answer}");
    assert_eq!(answer["details"]["retryAfterSeconds"], 10, "{answer}");
    let left = client.get(&format!("{pods}/p")).await.ok();
    assert!(left["metadata"].get("deletionTimestamp").is_none());
    let own = format!("{}/b", budgets("default"));
    let (code, answer) = call(&client, Method::DELETE, &own, &json!({})).await;
    assert_eq!(code, 200, "{answer}");
    let (code, answer) = call(&client, Method::POST, &path, &eviction).await;
    assert_eq!(code, 201, "{answer}");
}

#[tokio::test]
async fn objects_of_all_namespaces_are_not_deleted_at_once() {
    let server = Masthead::ephemeral();
    let client = server.client();
    client.post(CONFIG_MAPS, &config_map("a", "1")).await.ok();
    for path in ["/api/v1/configmaps", "/api/v1/namespaces//configmaps"] {
        let (status, answer) = call(&client, Method::DELETE, path, &json!({})).await;
        assert!(matches!(status, 404 | 405), "{path}: {answer}");
    }
    client.get(&format!("{CONFIG_MAPS}/a")).await.ok();
}

#[tokio::test]
async fn a_namespace_made_anew_keeps_its_content() {
    let server = Masthead::ephemeral();
    let client = server.client();
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}});
    let free = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"},
        "spec": {"finalizers": []}});
    client.post("/api/v1/namespaces", &namespace).await.ok();
    client.delete("/api/v1/namespaces/n").await.ok();
    client
        .put("/api/v1/namespaces/n/finalize", &free)
        .await
        .ok();
    client.post("/api/v1/namespaces", &namespace).await.ok();
    let inside = "/api/v1/namespaces/n/configmaps";
    client.post(inside, &config_map("a", "1")).await.ok();
    // Longer than the wait between a deletion and the sweep of its content.
    sleep(Duration::from_secs(6)).await;
    client.get(&format!("{inside}/a")).await.ok();
    // And the second deletion is seen through as well.
    client.delete("/api/v1/namespaces/n").await.ok();
    let gone = async {
        while client.get("/api/v1/namespaces/n").await.status != 404 {
            sleep(Duration::from_millis(100)).await;
        }
    };
    Box::pin(within(PATIENCE, "the namespace goes", gone)).await;
}

#[tokio::test]
async fn a_reader_slower_than_the_server_gets_the_whole_list() {
    const OBJECTS: usize = 60;
    let server = Masthead::ephemeral();
    let client = server.client();
    let large = "x".repeat(100_000);
    for n in 0..OBJECTS {
        client
            .post(CONFIG_MAPS, &config_map(&format!("c{n:02}"), &large))
            .await
            .ok();
    }
    let mut stream = client.dial(Protocol::Http1).await.unwrap();
    let request = format!(
        "GET {CONFIG_MAPS} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\nConnection: close\r\n\r\n",
        server.token()
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    // The server fills every buffer on the way before the first byte is taken.
    sleep(Duration::from_secs(1)).await;
    let mut answer = Vec::new();
    within(
        PATIENCE,
        "the list arrives",
        stream.read_to_end(&mut answer),
    )
    .await
    .ok();
    let text = String::from_utf8(answer).unwrap();
    assert_eq!(text.matches(&large).count(), OBJECTS);
    assert!(text.trim_end().ends_with('0'), "the last chunk is there");
}

#[tokio::test]
async fn nobody_acts_as_somebody_else() {
    let server = Masthead::ephemeral();
    let client = server.client();
    let mut request = client.request(Method::GET, CONFIG_MAPS, None);
    request
        .headers_mut()
        .insert("Impersonate-User", "nobody".parse().unwrap());
    let answer = client.send(request).await.unwrap();
    assert_eq!(answer.status(), 403);
}
