#!/usr/bin/env python3
"""Writes crates/objects/data/columns.json: the table columns of every built-in kind.

    columns.py ANSWER.json... > crates/objects/data/columns.json

ANSWER.json: recorded answers that hold Tables (as JSON, at any depth). The descriptions of columns that they
show are taken over, since they are part of the answer's bytes; a column not shown there has none.
What a cell holds is said by a small expression, see src/table/cell.rs.
"""
import json, sys
from pathlib import Path

NAME, AGE = "Name|string|name|0|name", "Age|string||0|age"
TEMPLATE = ["Containers|string||1|names spec.template.spec.containers name", "Images|string||1|names spec.template.spec.containers image"]
SELECTOR = "Selector|string||1|selector spec.selector"
BINDING = [NAME, "Role|string||0|role", AGE, "Users|string||1|subjects User", "Groups|string||1|subjects Group", "ServiceAccounts|string||1|subjects ServiceAccount"]
WEBHOOKS = [NAME, "Webhooks|integer||0|count webhooks", AGE]
TABLES = {
    "": [NAME, "Created At|date||0|created"],
    "pods": [NAME, "Ready|string||0|pod-ready", "Status|string||0|pod-status", "Restarts|string||0|pod-restarts", AGE, "IP|string||1|pod-ip",
             "Node|string||1|text spec.nodeName <none>", "Nominated Node|string||1|text status.nominatedNodeName <none>", "Readiness Gates|string||1|pod-gates"],
    "podtemplates": [NAME, "Containers|string||0|names template.spec.containers name", "Images|string||0|names template.spec.containers image", "Pod Labels|string||0|map template.metadata.labels"],
    "services": [NAME, "Type|string||0|text spec.type", "Cluster-IP|string||0|service-ip", "External-IP|string||0|service-external-ip", "Port(s)|string||0|service-ports", AGE, "Selector|string||1|map spec.selector"],
    "configmaps": [NAME, "Data|string||0|count data binaryData", AGE],
    "secrets": [NAME, "Type|string||0|text type", "Data|string||0|count data", AGE],
    "serviceaccounts": [NAME, AGE],
    "endpoints": [NAME, "Endpoints|string||0|endpoints", AGE],
    "events": ["Last Seen|string||0|event-last", "Type|string||0|text type", "Reason|string||0|text reason", "Object|string||0|event-object", "Subobject|string||1|text involvedObject.fieldPath",
               "Source|string||1|event-source", "Message|string||0|event-message", "First Seen|string||1|event-first", "Count|string||1|event-count", "Name|string|name|1|name"],
    "namespaces": [NAME, "Status|string||0|text status.phase", AGE],
    "nodes": [NAME, "Status|string||0|node-status", "Roles|string||0|node-roles", AGE, "Version|string||0|text status.nodeInfo.kubeletVersion", "Internal-IP|string||1|node-address InternalIP",
              "External-IP|string||1|node-address ExternalIP", "OS-Image|string||1|text status.nodeInfo.osImage <unknown>", "Kernel-Version|string||1|text status.nodeInfo.kernelVersion <unknown>",
              "Container-Runtime|string||1|text status.nodeInfo.containerRuntimeVersion <unknown>"],
    "persistentvolumes": [NAME, "Capacity|string||0|text spec.capacity.storage", "Access Modes|string||0|modes spec.accessModes", "Reclaim Policy|string||0|text spec.persistentVolumeReclaimPolicy", "Status|string||0|phase",
                          "Claim|string||0|volume-claim", "StorageClass|string||0|text spec.storageClassName", "VolumeAttributesClass|string||0|text spec.volumeAttributesClassName <unset>", "Reason|string||0|text status.reason", AGE,
                          "VolumeMode|string||1|text spec.volumeMode <unset>"],
    "persistentvolumeclaims": [NAME, "Status|string||0|phase", "Volume|string||0|text spec.volumeName", "Capacity|string||0|claim-capacity", "Access Modes|string||0|claim-modes", "StorageClass|string||0|text spec.storageClassName",
                               "VolumeAttributesClass|string||0|text spec.volumeAttributesClassName <unset>", AGE, "VolumeMode|string||1|text spec.volumeMode <unset>"],
    "replicationcontrollers": [NAME, "Desired|integer||0|int spec.replicas", "Current|integer||0|int status.replicas", "Ready|integer||0|int status.readyReplicas", AGE, *TEMPLATE, "Selector|string||1|map spec.selector"],
    "resourcequotas": [NAME, "Request|string||0|quota-requests", "Limit|string||0|quota-limits", AGE],
    "deployments": [NAME, "Ready|string||0|ratio status.readyReplicas spec.replicas", "Up-to-date|string||0|int status.updatedReplicas", "Available|string||0|int status.availableReplicas", AGE, *TEMPLATE, SELECTOR],
    "replicasets": [NAME, "Desired|integer||0|int spec.replicas", "Current|integer||0|int status.replicas", "Ready|integer||0|int status.readyReplicas", AGE, *TEMPLATE, SELECTOR],
    "statefulsets": [NAME, "Ready|string||0|ratio status.readyReplicas spec.replicas", AGE, *TEMPLATE],
    "daemonsets": [NAME, "Desired|integer||0|int status.desiredNumberScheduled", "Current|integer||0|int status.currentNumberScheduled", "Ready|integer||0|int status.numberReady", "Up-to-date|integer||0|int status.updatedNumberScheduled",
                   "Available|integer||0|int status.numberAvailable", "Node Selector|string||0|map spec.template.spec.nodeSelector", AGE, *TEMPLATE, SELECTOR],
    "controllerrevisions": [NAME, "Controller|string||0|controller", "Revision|string||0|int revision", AGE],
    "jobs": [NAME, "Status|string||0|job-status", "Completions|string||0|job-completions", "Duration|string||0|job-duration", AGE, *TEMPLATE, SELECTOR],
    "cronjobs": [NAME, "Schedule|string||0|text spec.schedule", "Timezone|string||0|text spec.timeZone <none>", "Suspend|boolean||0|bool spec.suspend", "Active|integer||0|count status.active", "Last Schedule|string||0|ago status.lastScheduleTime <none>", AGE,
                 "Containers|string||1|names spec.jobTemplate.spec.template.spec.containers name", "Images|string||1|names spec.jobTemplate.spec.template.spec.containers image", "Selector|string||1|selector spec.jobTemplate.spec.selector"],
    "ingresses": [NAME, "Class|string||0|text spec.ingressClassName <none>", "Hosts|string||0|ingress-hosts", "Address|string||0|balancer", "Ports|string||0|ingress-ports", AGE],
    "ingressclasses": [NAME, "Controller|string||0|text spec.controller", "Parameters|string||0|class-parameters", AGE],
    "networkpolicies": [NAME, "Pod-Selector|string||0|selector spec.podSelector", AGE],
    "leases": [NAME, "Holder|string||0|text spec.holderIdentity", AGE],
    "rolebindings": BINDING, "clusterrolebindings": BINDING,
    "storageclasses": ["Name|string|name|0|class-name", "Provisioner|string||0|text provisioner", "ReclaimPolicy|string||0|text reclaimPolicy Delete", "VolumeBindingMode|string||0|text volumeBindingMode Immediate", "AllowVolumeExpansion|string||0|flag allowVolumeExpansion", AGE],
    "volumeattachments": [NAME, "Attacher|string|name|0|text spec.attacher", "PV|string||0|text spec.source.persistentVolumeName", "Node|string||0|text spec.nodeName", "Attached|boolean||0|flag status.attached", AGE],
    "csinodes": [NAME, "Drivers|integer||0|count spec.drivers", AGE],
    "poddisruptionbudgets": [NAME, "Min Available|string||0|text spec.minAvailable N/A", "Max Unavailable|string||0|text spec.maxUnavailable N/A", "Allowed Disruptions|integer||0|int status.disruptionsAllowed", AGE],
    "horizontalpodautoscalers": [NAME, "Reference|string||0|scale-target", "Targets|string||0|scale-metrics", "MinPods|string||0|text spec.minReplicas <unset>", "MaxPods|string||0|int spec.maxReplicas", "Replicas|string||0|int status.currentReplicas", AGE],
    "endpointslices": [NAME, "AddressType|string||0|text addressType", "Ports|string||0|slice-ports", "Endpoints|string||0|slice-endpoints", AGE],
    "priorityclasses": [NAME, "Value|integer||0|int value", "Global-Default|boolean||0|flag globalDefault", AGE, "PreemptionPolicy|string||0|text preemptionPolicy"],
    "runtimeclasses": [NAME, "Handler|string||0|text handler", AGE],
    "certificatesigningrequests": [NAME, AGE, "SignerName|string||0|text spec.signerName", "Requestor|string||0|text spec.username", "RequestedDuration|string||0|signing-duration", "Condition|string||0|signing-condition"],
    "mutatingwebhookconfigurations": WEBHOOKS, "validatingwebhookconfigurations": WEBHOOKS,
    "validatingadmissionpolicies": [NAME, "Validations|integer||0|count spec.validations", "ParamKind|string||0|param-kind", AGE],
    "mutatingadmissionpolicies": [NAME, "Mutations|integer||0|count spec.mutations", "ParamKind|string||0|param-kind", AGE],
    "validatingadmissionpolicybindings": [NAME, "PolicyName|string||0|text spec.policyName", "ParamRef|string||0|param-ref", AGE],
    "mutatingadmissionpolicybindings": [NAME, "PolicyName|string||0|text spec.policyName", "ParamRef|string||0|param-ref", AGE],
    "apiservices": [NAME, "Service|string||0|service-of", "Available|string||0|service-available", AGE],
    "servicecidrs": [NAME, "CIDRs|string||0|join spec.cidrs", AGE],
    "flowschemas": [NAME, "PriorityLevel|string||0|text spec.priorityLevelConfiguration.name", "MatchingPrecedence|string||0|int spec.matchingPrecedence", "DistinguisherMethod|string||0|text spec.distinguisherMethod.type <none>", AGE, "MissingPL|string||0|missing-level"],
}


def shown(value, into):
    """Columns of every Table in `value`: the names of its columns -> descriptions."""
    if isinstance(value, dict):
        columns = value.get("columnDefinitions")
        if isinstance(columns, list):
            into.setdefault(tuple(c["name"] for c in columns), [c["description"] for c in columns])
        for v in value.values(): shown(v, into)
    elif isinstance(value, list):
        for v in value: shown(v, into)


def main():
    found = {}
    for path in sys.argv[1:]: shown(json.loads(Path(path).read_text()), found)
    texts, common = [], {}
    for names, descriptions in found.items():
        common.update({n: d for n, d in zip(names, descriptions) if n in ("Name", "Age")})
    common["Created At"] = common.get("Age", "")
    lines = []
    for plural, columns in TABLES.items():
        columns = [c.split("|", 4) for c in columns]
        known = found.get(tuple(c[0] for c in columns), [])
        out = []
        for i, (name, kind, form, priority, cell) in enumerate(columns):
            text = known[i] if known else common.get(name, "") if name in ("Name", "Age", "Created At") else ""
            if text not in texts: texts.append(text)
            out.append([name, kind, form, int(priority), texts.index(text), cell])
        lines.append(f'{json.dumps(plural)}:{json.dumps(out, separators=(",", ":"), ensure_ascii=False)}')
    head = ",\n".join(json.dumps(t, ensure_ascii=False) for t in texts)
    sys.stdout.write('{"descriptions":[\n' + head + '\n],\n"tables":{\n' + ",\n".join(lines) + "\n}}\n")


main()
