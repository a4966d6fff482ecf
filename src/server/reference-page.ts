// The API as a page for people, made from the OpenAPI document. It has no script, and its one style is named in its policy.
import { hash } from 'node:crypto';
import { isObject, type Json, type JsonObject } from '../kernel/json.ts';

const STYLE = `
:root { color-scheme: light dark; --line: light-dark(#d8dbe2, #343a46); --soft: light-dark(#f4f5f8, #1b1f27); --faint: light-dark(#5b6270, #9aa3b2) }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; background: light-dark(#fff, #13161c); color: light-dark(#1c2027, #e6e9ef) }
h1 { font-size: 1.6rem } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; text-transform: capitalize }
details { border: 1px solid var(--line); border-radius: 8px; margin: .4rem 0; padding: .5rem .8rem }
summary { cursor: pointer; display: flex; gap: .8rem; flex-wrap: wrap; align-items: baseline }
summary::-webkit-details-marker { display: none }
summary code { font-weight: 600 } .method { font: 600 .8rem/1 ui-monospace, monospace; min-width: 5.5rem } .faint { color: var(--faint) }
code, pre { font-family: ui-monospace, monospace; font-size: .88em } pre { background: var(--soft); padding: .7rem; border-radius: 6px; overflow: auto }
table { border-collapse: collapse; width: 100% } th, td { text-align: left; vertical-align: top; padding: .3rem .8rem .3rem 0; border-top: 1px solid var(--line) }
th { font-weight: 600; border-top: 0 } nav a { margin-right: .8rem } a { color: light-dark(#2456c7, #8ab4ff) }
:focus-visible { outline: 2px solid currentColor; outline-offset: 2px }
`;

export const REFERENCE_POLICY = `default-src 'none'; style-src 'sha256-${hash('sha256', STYLE, 'base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

type Row = { readonly path: string; readonly methods: readonly string[]; readonly about: JsonObject };

export function referencePage(document: JsonObject): string {
  const { title, version, description } = objectIn(document.info);
  const rows = Object.entries(objectIn(document.paths)).map(([path, item]): Row => {
    const methods = Object.keys(objectIn(item));
    // What can be asked both ways takes the same fields; the body says them best.
    return { path, methods, about: objectIn(objectIn(item).post ?? objectIn(item).get) };
  });
  const groups = listIn(document.tags).map((tag) => String(objectIn(tag).name));
  const sections = groups.map((group) => {
    const ofGroup = rows.filter(({ about }) => listIn(about.tags)[0] === group);
    return `<section><h2 id="${text(group)}">${text(group)}</h2>${ofGroup.map(operation).join('')}</section>`;
  });
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>${text(title)} API</title><style>${STYLE}</style></head>
<body><main><h1>${text(title)} API <span class="faint">${text(version)}</span></h1>
<p>${prose(description)}</p>
<p>Every request below <code>/api</code> carries <code>Authorization: Bearer TOKEN</code>. The document of this page is
<code>GET /api/openapi.json</code>.</p>
<nav aria-label="Groups">${groups.map((group) => `<a href="#${text(group)}">${text(group)}</a>`).join(' ')}</nav>
${sections.join('\n')}</main></body></html>
`;
}

function operation({ path, methods, about }: Row): string {
  const names = methods.map((method) => method.toUpperCase()).join(' ');
  return `<details><summary><span class="method">${names}</span><code>${text(path)}</code><span class="faint">${prose(about.summary)}</span></summary>
<p>${prose(about.description)}</p>${fields(about)}<pre>${text(example(path, methods, about))}</pre></details>`;
}

function fields(about: JsonObject): string {
  const rows = fieldRows(about).map(
    ({ name, schema, isRequired, says }) =>
      `<tr><td><code>${text(name)}</code>${isRequired ? ' <span class="faint">required</span>' : ''}</td><td>${text(typeName(schema))}</td><td>${prose(says)}</td></tr>`,
  );
  if (rows.length === 0) return '';
  return `<table><thead><tr><th>field</th><th>type</th><th>meaning</th></tr></thead><tbody>${rows.join('')}</tbody></table>`;
}

type FieldRow = {
  readonly name: string;
  readonly schema: JsonObject;
  readonly isRequired: boolean;
  readonly says: Json | undefined;
};

function fieldRows(about: JsonObject): readonly FieldRow[] {
  const body = bodySchema(about);
  if (body) {
    const required = listIn(body.required);
    return Object.entries(objectIn(body.properties)).map(([name, schema]) => ({
      ...{ name, schema: objectIn(schema), isRequired: required.includes(name) },
      says: objectIn(schema).description,
    }));
  }
  return listIn(about.parameters).map((one) => {
    const { name, schema, required, description } = objectIn(one);
    return { name: String(name), schema: objectIn(schema), isRequired: required === true, says: description };
  });
}

function bodySchema(about: JsonObject): JsonObject | null {
  if (!isObject(about.requestBody)) return null;
  return objectIn(objectIn(objectIn(about.requestBody.content)['application/json']).schema);
}

/** A call that can be copied. `$URL` and `$TOKEN` are what `baton serve` prints. */
function example(path: string, methods: readonly string[], about: JsonObject): string {
  const call = `curl -H "Authorization: Bearer $TOKEN" "$URL`;
  const inPath = fieldsIn(about, 'path').reduce((made, [name, value]) => made.replace(`{${name}}`, value), path);
  if (methods.includes('get')) {
    const query = new URLSearchParams(methods.length > 1 ? requiredOf(about) : fieldsIn(about, 'query')).toString();
    return `${call}${inPath}${query === '' ? '' : `?${query}`}"`;
  }
  const body = JSON.stringify(Object.fromEntries(requiredOf(about)));
  return `${call}${inPath}" -d '${body.replaceAll("'", "'\\''")}'`;
}

function requiredOf(about: JsonObject): [string, string][] {
  const rows = fieldRows(about).filter(({ isRequired }) => isRequired);
  return rows.map(({ name, schema }) => [name, (listIn(schema.examples)[0] ?? '…') as string]);
}

function fieldsIn(about: JsonObject, where: string): [string, string][] {
  const rows = listIn(about.parameters).map(objectIn);
  return rows
    .filter((one) => one.in === where && one.example !== undefined)
    .map(({ name, example: shown }) => [String(name), String(shown)]);
}

function typeName({ type, enum: choices, items }: JsonObject): string {
  if (Array.isArray(choices)) return choices.join(' | ');
  if (type === 'array') return `list of ${typeName(objectIn(items)) || 'values'}`;
  return typeof type === 'string' ? type : 'any';
}

function objectIn(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}

function listIn(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

function text(value: Json | undefined): string {
  const plain = value === undefined ? '' : String(value);
  return plain.replace(/[&<>"']/g, (mark) => `&#${mark.codePointAt(0)};`);
}

/** Words between backticks are names. */
function prose(value: Json | undefined): string {
  return text(value).replaceAll(/`([^`]+)`/g, '<code>$1</code>');
}
