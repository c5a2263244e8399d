"""Prints every operator of ONNX's own set with the versions in which its attributes, operands or results became others."""

from onnx import defs


def form(schema):
    attributes = sorted((a.name, str(a.type), a.required, str(a.default_value)) for a in schema.attributes.values())
    operands, results = ([(o.name, str(o.option)) for o in side] for side in (schema.inputs, schema.outputs))
    return schema.deprecated, attributes, operands, results


forms = {}
for schema in defs.get_all_schemas_with_history():
    if schema.domain == "":
        forms.setdefault(schema.name, {})[schema.since_version] = form(schema)
for name, known in sorted(forms.items()):
    versions = sorted(known)
    changed = [late for early, late in zip(versions, versions[1:]) if known[early] != known[late]]
    if changed:
        print(name, *changed)
