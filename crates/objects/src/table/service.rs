//! Cells of services, endpoints and ingresses.

use serde_json::Value;

use super::special::{port_numbers, strings};
use super::view::{View, get, int, list, or, some_of, text};

pub(super) fn cluster_ip(view: &View<'_>, _: &str) -> Value {
    let first = view.list("spec.clusterIPs").first().and_then(Value::as_str);
    or(
        first.unwrap_or_else(|| view.text("spec.clusterIP")),
        "<none>",
    )
    .into()
}

pub(super) fn external_ip(view: &View<'_>, _: &str) -> Value {
    let given = strings(view.object, "spec.externalIPs");
    match view.text("spec.type") {
        "ClusterIP" | "NodePort" => or(&given.join(","), "<none>").into(),
        "LoadBalancer" => {
            let mut all = balancers(view);
            all.extend(given);
            or(&all.join(","), "<pending>").into()
        }
        "ExternalName" => view.text("spec.externalName").into(),
        _ => "<unknown>".into(),
    }
}

pub(super) fn ports(view: &View<'_>, _: &str) -> Value {
    let ports: Vec<String> = view
        .list("spec.ports")
        .iter()
        .map(|port| {
            let (number, protocol) = (int(port, "port"), text(port, "protocol"));
            match int(port, "nodePort") {
                0 => format!("{number}/{protocol}"),
                node => format!("{number}:{node}/{protocol}"),
            }
        })
        .collect();
    or(&ports.join(","), "<none>").into()
}

fn balancers(view: &View<'_>) -> Vec<String> {
    let mut found = Vec::new();
    for ingress in view.list("status.loadBalancer.ingress") {
        let address = or(text(ingress, "ip"), text(ingress, "hostname"));
        if !address.is_empty() && !found.iter().any(|known| known == address) {
            found.push(address.to_owned());
        }
    }
    found
}

pub(super) fn balancer(view: &View<'_>, _: &str) -> Value {
    balancers(view).join(",").into()
}

pub(super) fn endpoints(view: &View<'_>, _: &str) -> Value {
    let subsets = view.list("subsets");
    if subsets.is_empty() {
        return "<none>".into();
    }
    let mut found = Vec::new();
    for subset in subsets {
        let addresses = || {
            list(subset, "addresses")
                .iter()
                .map(|address| text(address, "ip"))
        };
        let ports = list(subset, "ports");
        if ports.is_empty() {
            found.extend(addresses().map(str::to_owned));
        }
        for port in ports {
            found.extend(addresses().map(|ip| {
                if ip.contains(':') {
                    format!("[{ip}]:{}", int(port, "port"))
                } else {
                    format!("{ip}:{}", int(port, "port"))
                }
            }));
        }
    }
    some_of(&found, found.len(), 3).into()
}

pub(super) fn slice_ports(view: &View<'_>, _: &str) -> Value {
    port_numbers(view.list("ports"), "<unset>").into()
}

pub(super) fn slice_endpoints(view: &View<'_>, _: &str) -> Value {
    let addresses: Vec<String> = view
        .list("endpoints")
        .iter()
        .flat_map(|e| strings(e, "addresses"))
        .collect();
    or(&some_of(&addresses, addresses.len(), 3), "<unset>").into()
}

pub(super) fn ingress_hosts(view: &View<'_>, _: &str) -> Value {
    let rules = view.list("spec.rules");
    let hosts: Vec<String> = rules
        .iter()
        .map(|rule| text(rule, "host").to_owned())
        .filter(|host| !host.is_empty())
        .collect();
    or(&some_of(&hosts, rules.len(), 3), "*").into()
}

pub(super) fn ingress_ports(view: &View<'_>, _: &str) -> Value {
    if get(view.object, "spec.tls").is_some_and(|tls| tls.as_array().is_some_and(|t| !t.is_empty()))
    {
        "80, 443".into()
    } else {
        "80".into()
    }
}
