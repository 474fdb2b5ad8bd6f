//! The objects that every cluster has from the start: four namespaces and the API's own service.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use masthead_api::{Key, Status};
use masthead_objects::write::{UpdateOf, Verb};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::app::App;
use crate::handle::create::{Creation, Run};
use crate::handle::update::Update;

const NAMESPACES: [&str; 4] = ["default", "kube-system", "kube-public", "kube-node-lease"];

/// Creates what is missing: the namespaces at once, so that they share a sync, then what goes into
/// them.
pub(crate) async fn run(app: &Arc<App>, address: SocketAddr) -> Result<(), Status> {
    let namespaces = NAMESPACES.map(|name| {
        let object = json!({"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": name}});
        (("", "v1", "namespaces"), object)
    });
    ensure_all(app, "", namespaces).await?;
    let service_ip = app.config.service_cidr.first_host();
    ensure_all(app, "default", service(address, service_ip)).await
}

async fn ensure_all(
    app: &Arc<App>,
    namespace: &'static str,
    objects: impl IntoIterator<Item = (Gvr, Value)>,
) -> Result<(), Status> {
    let mut under_way = JoinSet::new();
    for (gvr, object) in objects {
        let app = Arc::clone(app);
        under_way.spawn(async move { ensure(&app, gvr, namespace, object).await });
    }
    while let Some(done) = under_way.join_next().await {
        done.unwrap_or_else(|error| Err(Status::internal_error(&error.to_string())))?;
    }
    Ok(())
}

type Gvr = (&'static str, &'static str, &'static str);

fn service(address: SocketAddr, service_ip: IpAddr) -> [(Gvr, Value); 3] {
    let (ip, port) = (address.ip().to_string(), address.port());
    let family_of = |ip: IpAddr| if ip.is_ipv4() { "IPv4" } else { "IPv6" };
    let (family, service_family) = (family_of(address.ip()), family_of(service_ip));
    let service = json!({
        "kind": "Service", "apiVersion": "v1",
        "metadata": {"name": "kubernetes",
            "labels": {"component": "apiserver", "provider": "kubernetes"}},
        "spec": {
            "ports": [{"name": "https", "protocol": "TCP", "port": 443, "targetPort": port}],
            "clusterIP": service_ip, "clusterIPs": [service_ip], "type": "ClusterIP",
            "sessionAffinity": "None", "ipFamilies": [service_family], "ipFamilyPolicy": "SingleStack",
            "internalTrafficPolicy": "Cluster"},
        "status": {"loadBalancer": {}}});
    let endpoints = json!({
        "kind": "Endpoints", "apiVersion": "v1",
        "metadata": {"name": "kubernetes",
            "labels": {"endpointslice.kubernetes.io/skip-mirror": "true"}},
        "subsets": [{"addresses": [{"ip": ip}],
            "ports": [{"name": "https", "port": port, "protocol": "TCP"}]}]});
    let slice = json!({
        "kind": "EndpointSlice", "apiVersion": "discovery.k8s.io/v1",
        "metadata": {"name": "kubernetes", "labels": {"kubernetes.io/service-name": "kubernetes"}},
        "addressType": family,
        "endpoints": [{"addresses": [ip], "conditions": {"ready": true}}],
        "ports": [{"name": "https", "protocol": "TCP", "port": port}]});
    [
        (("", "v1", "services"), service),
        (("", "v1", "endpoints"), endpoints),
        (("discovery.k8s.io", "v1", "endpointslices"), slice),
    ]
}

/// Creates the object if there is none; else brings it up to date, since the server's address may be
/// another one than at its last start.
async fn ensure(app: &Arc<App>, gvr: Gvr, namespace: &str, object: Value) -> Result<(), Status> {
    let (group, version, plural) = gvr;
    let Some(resource) = app.catalog.resource(group, version, plural) else {
        return Ok(());
    };
    let name = object
        .pointer("/metadata/name")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let key = Key::new(namespace, name);
    let run = Run::ForReal;
    let wanted = object.clone();
    match (Creation {
        resource,
        namespace,
        object,
        run,
    })
    .run(app)
    .await
    {
        Err(status) if status.code == 409 && namespace.is_empty() => Ok(()),
        Err(status) if status.code == 409 => {
            let part = Some((UpdateOf::Object, Verb::Patch));
            let update = Update {
                resource,
                key,
                part,
                run,
            };
            let refreshed = |old: &Value| Ok(with_metadata_of(old, &wanted));
            update.run(app, refreshed).await.map(drop)
        }
        other => other.map(drop),
    }
}

/// `wanted` with what the present object has in its metadata, and with its status.
fn with_metadata_of(old: &Value, wanted: &Value) -> Value {
    let mut new = old.clone();
    if let (Some(new), Some(wanted)) = (new.as_object_mut(), wanted.as_object()) {
        for (member, value) in wanted.iter().filter(|(member, _)| *member != "metadata") {
            new.insert(member.clone(), value.clone());
        }
    }
    new
}
