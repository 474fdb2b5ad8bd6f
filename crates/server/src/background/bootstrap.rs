//! The objects that every cluster has from the start: four namespaces and the API's own service.

use std::net::SocketAddr;
use std::sync::Arc;

use masthead_api::Status;
use serde_json::{Value, json};

use crate::app::App;
use crate::handle::create::{Creation, Run};

const NAMESPACES: [&str; 4] = ["default", "kube-system", "kube-public", "kube-node-lease"];

/// Creates what is missing.
pub(crate) async fn run(app: &Arc<App>, address: SocketAddr) -> Result<(), Status> {
    for name in NAMESPACES {
        let namespace = json!({"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": name}});
        ensure(app, ("", "v1", "namespaces"), "", namespace).await?;
    }
    for (gvr, object) in service(address) {
        ensure(app, gvr, "default", object).await?;
    }
    Ok(())
}

type Gvr = (&'static str, &'static str, &'static str);

fn service(address: SocketAddr) -> [(Gvr, Value); 3] {
    let (ip, port) = (address.ip().to_string(), address.port());
    let family = if address.is_ipv4() { "IPv4" } else { "IPv6" };
    let service = json!({
        "kind": "Service", "apiVersion": "v1",
        "metadata": {"name": "kubernetes",
            "labels": {"component": "apiserver", "provider": "kubernetes"}},
        "spec": {
            "ports": [{"name": "https", "protocol": "TCP", "port": 443, "targetPort": port}],
            "clusterIP": "10.96.0.1", "clusterIPs": ["10.96.0.1"], "type": "ClusterIP",
            "sessionAffinity": "None", "ipFamilies": ["IPv4"], "ipFamilyPolicy": "SingleStack",
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

async fn ensure(app: &Arc<App>, gvr: Gvr, namespace: &str, object: Value) -> Result<(), Status> {
    let (group, version, plural) = gvr;
    let Some(resource) = app.catalog.resource(group, version, plural) else { return Ok(()) };
    match (Creation { resource, namespace, object, run: Run::ForReal }).run(app).await {
        Ok(_) => Ok(()),
        Err(status) if status.code == 409 => Ok(()),
        Err(status) => Err(status),
    }
}
