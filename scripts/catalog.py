#!/usr/bin/env python3
"""Writes crates/objects/data/resources.json from what a running API server says of itself.

    catalog.py DISCOVERY.json... --openapi DIR > crates/objects/data/resources.json

DISCOVERY.json: answers of GET /api and GET /apis in the aggregated form, in this order.
DIR: one OpenAPI v3 document a group-version (`api_v1.json`, `apis_apps_v1.json`): from these come
the members that an empty object prints. Only names and types are taken over, no prose.
"""
import argparse, json, sys
from pathlib import Path

STANDARD = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]
NO_STORE = {"bindings", "componentstatuses", "selfsubjectreviews", "tokenreviews", "localsubjectaccessreviews",
            "selfsubjectaccessreviews", "selfsubjectrulesreviews", "subjectaccessreviews"}
# Where a resource does not lie under its plural.
STORE = {"services": "services/specs", "endpoints": "services/endpoints", "nodes": "minions", "replicationcontrollers": "controllers",
         "ingresses": "ingress", "apiservices": "apiregistration.k8s.io/apiservices",
         "customresourcedefinitions": "apiextensions.k8s.io/customresourcedefinitions"}
# The version whose JSON is stored, where a type has several.
STORED_AS = {"events": ("", "v1"), "horizontalpodautoscalers": ("autoscaling", "v2")}
PLAIN = "field label not supported: {}"
POD = ["spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName", "spec.hostNetwork", "status.phase",
       "status.podIP", "status.podIPs", "status.nominatedNodeName"]
REF = ["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"]
EVENT = ["involvedObject." + r for r in REF] + ["reason", "reportingComponent", "source", "type"]
BOTH = ["metadata.name", "metadata.namespace"]
# label -> [selectable, text of a refusal, aliases]
FIELDS = {
    ("", "pods"): (BOTH + POD, PLAIN, {"spec.host": "spec.nodeName"}),
    ("", "nodes"): (["metadata.name", "spec.unschedulable"], PLAIN, {}),
    ("", "namespaces"): (["metadata.name", "status.phase"], PLAIN, {}),
    ("", "secrets"): (BOTH + ["type"], PLAIN, {}),
    ("", "services"): (BOTH + ["spec.clusterIP", "spec.type"], PLAIN, {}),
    ("", "replicationcontrollers"): (BOTH + ["status.replicas"], PLAIN, {}),
    ("", "events"): (BOTH + EVENT, PLAIN, {}),
    ("events.k8s.io", "events"): (BOTH + EVENT, PLAIN, {**{"regarding." + r: "involvedObject." + r for r in REF}, "reportingController": "reportingComponent"}),
    ("batch", "jobs"): (BOTH + ["status.successful"], 'field label "{}" not supported for Job', {}),
    ("certificates.k8s.io", "certificatesigningrequests"): (["metadata.name", "spec.signerName"], PLAIN, {}),
    ("resource.k8s.io", "resourceslices"): (["metadata.name", "spec.nodeName", "spec.driver"],
                                            "field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: {}", {}),
}
# Time values that are no pointers print null.
NULL_TIMES = {"firstTimestamp", "lastTimestamp", "eventTime", "deprecatedFirstTimestamp", "deprecatedLastTimestamp"}
# Lists that are optional and still printed.
NULL_LISTS = {("Role", "rules"), ("ClusterRole", "rules"), ("EndpointSlice", "endpoints"), ("EndpointSlice", "ports"),
              ("CustomResourceDefinitionStatus", "conditions"), ("CustomResourceDefinitionStatus", "storedVersions"),
              ("HorizontalPodAutoscalerStatus", "currentMetrics")}
# Pointers that are plain numbers in the form the empty object is made from.
ZERO_NUMBERS = {("DeploymentSpec", "replicas"), ("ReplicaSetSpec", "replicas"), ("StatefulSetSpec", "replicas")}
NOT_PRINTED = {("ReplicationControllerSpec", "minReadySeconds")}
ORDER = ["replicas", "selector", "template", "involvedObject", "source", "firstTimestamp", "lastTimestamp", "eventTime", "reportingComponent",
         "reportingInstance", "daemonEndpoints", "nodeInfo", "machineID", "systemUUID", "bootID", "kernelVersion", "osImage",
         "containerRuntimeVersion", "kubeletVersion", "kubeProxyVersion", "operatingSystem", "architecture"]


def target(prop):
    """The name of the schema that a property refers to."""
    ref = prop.get("$ref") or next((a["$ref"] for a in prop.get("allOf", []) if "$ref" in a), None)
    return ref.split("/")[-1] if ref else None


def empty(schemas, name, top=False):
    """What Go prints of the zero struct: members that are never left out."""
    out, schema, short = {}, schemas[name], name.split(".")[-1]
    properties = schema.get("properties", {})
    for key in sorted(properties, key=lambda k: (ORDER.index(k) if k in ORDER else len(ORDER), k)):
        prop = properties[key]
        ref, required = target(prop), key in schema.get("required", [])
        if (top and key in ("kind", "apiVersion")) or (short, key) in NOT_PRINTED:
            continue
        if ref and ref.endswith(".ObjectMeta"):
            out[key] = {}
        elif ref and prop.get("default") == {} and schemas[ref].get("type") == "object" and "properties" in schemas[ref]:
            out[key] = empty(schemas, ref)
        elif key in NULL_TIMES or (short, key) in NULL_LISTS or (ref and (required or ref.endswith(".RawExtension"))):
            out[key] = None
        elif (short, key) in ZERO_NUMBERS:
            out[key] = 0
        elif prop.get("format") == "byte" or prop.get("type") in ("array", "object"):
            if required: out[key] = None
        elif "default" in prop and prop["default"] in (0, "", False):
            out[key] = prop["default"]
    return out


def kind_schema(schemas, group, version, kind):
    for name, schema in schemas.items():
        for gvk in schema.get("x-kubernetes-group-version-kind", []):
            if (gvk["group"], gvk["version"], gvk["kind"]) == (group, version, kind):
                return name, schema
    return None, {}


def delete_answers_object(doc, plural):
    """Does DELETE of one object answer with the object rather than with a Status?"""
    for path, item in doc["paths"].items():
        if path.endswith(f"/{plural}/{{name}}") and "delete" in item:
            schema = item["delete"]["responses"]["200"]["content"]["application/json"]["schema"]
            return not target(schema).endswith(".Status")
    return False


def resource(group, version, r, doc):
    schemas = doc["components"]["schemas"]
    plural, kind = r["resource"], r["responseKind"]["kind"]
    out = {"plural": plural, "kind": kind}
    if r["singularResource"] != kind.lower(): out["singular"] = r["singularResource"]
    if r["scope"] == "Cluster": out["cluster"] = True
    if r["verbs"] != STANDARD: out["verbs"] = r["verbs"]
    if r.get("shortNames"): out["short"] = r["shortNames"]
    if r.get("categories"): out["categories"] = r["categories"]
    subs = []
    for s in r.get("subresources", []):
        k = s["responseKind"]
        sub = {"name": s["subresource"], "kind": k["kind"], "verbs": s["verbs"]}
        if k["group"] or k["version"]: sub["gv"] = [k["group"], k["version"]]
        subs.append(sub)
    if subs: out["sub"] = subs
    if plural in NO_STORE: out["virtual"] = True
    else:
        if plural in STORE: out["store"] = STORE[plural]
        if plural in STORED_AS and STORED_AS[plural] != (group, version): out["converted"] = True
        name, schema = kind_schema(schemas, group, version, kind)
        zero = empty(schemas, name, top=True)
        zero.pop("metadata", None)
        if zero: out["empty"] = zero
        if delete_answers_object(doc, plural): out["deleteAnswersObject"] = True
    if (group, plural) in FIELDS:
        fields, refusal, aliases = FIELDS[group, plural]
        out["fields"], out["refusal"] = fields, refusal
        if aliases: out["aliases"] = aliases
    return out


def main():
    args = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    args.add_argument("discovery", nargs="+")
    args.add_argument("--openapi", required=True)
    args = args.parse_args()
    lines = []
    for path in args.discovery:
        for item in json.loads(Path(path).read_text())["items"]:
            group = item["metadata"].get("name", "")
            for v in item["versions"]:
                name = f"apis_{group}_{v['version']}.json" if group else f"api_{v['version']}.json"
                doc = json.loads((Path(args.openapi) / name).read_text())
                for r in v["resources"]:
                    line = {"group": group, "version": v["version"], **resource(group, v["version"], r, doc)}
                    lines.append(json.dumps(line, separators=(",", ":"), ensure_ascii=False))
    sys.stdout.write("[\n" + ",\n".join(lines) + "\n]\n")


main()
