import type { Json, JsonObject } from '../../domain/json.ts';
import { PAGE_SCRIPT, PAGE_STYLE } from './page-assets.ts';
import { typeText } from './type-text.ts';

/** The parts of the description that the page shows; it is our own, so they are there. */
interface Described {
  info: { title: string; description: string };
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, JsonObject>; responses: Record<string, Response> };
}

interface Operation {
  operationId: string;
  tags: string[];
  summary: string;
  description?: string;
  security?: Json[];
  parameters: { name: string; in: string; required: boolean; description?: string; schema: JsonObject }[];
  requestBody?: { content: { 'application/json': { schema: JsonObject; example: Json } } };
  responses: Record<string, Response>;
}

/** Or only a reference to one. */
interface Response {
  $ref?: string;
  description: string;
  content: Record<string, { schema: JsonObject }>;
}

interface Entry {
  method: string;
  path: string;
  operation: Operation;
}

/** The description as one page of HTML that loads nothing. */
export function renderPage(document: JsonObject): string {
  const { info, tags, paths, components } = document as unknown as Described;
  const whole = (answer: Response): Response => components.responses[nameOf(answer)] ?? answer;
  const entries = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): Entry => {
      const answers = Object.entries(operation.responses).map(([status, answer]) => [status, whole(answer)]);
      return { method, path, operation: { ...operation, responses: Object.fromEntries(answers) } };
    }),
  );
  const groups = tags.map((tag) => ({
    ...tag,
    entries: entries.filter(({ operation }) => operation.tags[0] === tag.name),
  }));
  const menu = groups.map(({ name, entries: own }) => `<h2>${name}</h2>${own.map(menuLine).join('')}`).join('');
  const body = groups
    .map(
      ({ name, description, entries: own }) =>
        `<section><h2>${name}</h2><p class="soft">${text(description)}</p>${own.map(operationCard).join('')}</section>`,
    )
    .join('');
  const schemas = Object.entries(components.schemas).map(([name, schema]) => schemaCard(name, schema));
  return [
    '<!doctype html><html lang="en"><head><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${text(info.title)} API</title><style>${PAGE_STYLE}</style></head><body><div class="page">`,
    `<nav><input type="search" placeholder="Filter" aria-label="Filter operations">${menu}<h2>Schemas</h2>`,
    '<a href="#schemas">All shapes</a></nav>',
    `<main><h1>${text(info.title)} API</h1><p>${prose(info.description)}</p>`,
    '<p><a href="/api-docs/openapi.json">openapi.json</a> is the same for programs.</p>',
    `${body}<section id="schemas"><h2>Schemas</h2>${schemas.join('')}</section>`,
    `</main></div><script>${PAGE_SCRIPT}</script></body></html>`,
  ].join('');
}

function menuLine({ operation }: Entry): string {
  return `<a href="#${operation.operationId}"${searchable(operation.summary)}>${text(operation.summary)}</a>`;
}

function operationCard({ method, path, operation }: Entry): string {
  const { operationId, summary, description, parameters, requestBody, responses } = operation;
  const isOpen = operation.security?.length === 0;
  const rows = parameters.map(({ name, in: place, description: says, schema }) =>
    row(
      `<code>${text(name)}</code> <span class="soft">${place}</span>`,
      `${typeText(schema)}${says === undefined ? '' : ` — ${text(says)}`}`,
    ),
  );
  const answers = Object.entries(responses).map(([status, { description: says, content }]) => {
    const types = Object.values(content).map(({ schema }) => typeText(schema));
    return row(`<code>${status}</code>`, `${text(says)}<br><span class="soft">${types.join(' or ')}</span>`);
  });
  const body = requestBody?.content['application/json'];
  return [
    `<details id="${operationId}"${searchable(`${method} ${path} ${summary}`)}><summary>`,
    `<span class="method ${method}">${method.toUpperCase()}</span><code>${text(path)}</code> <span class="does">${text(summary)}</span>`,
    isOpen ? '<span class="open">no key</span>' : '',
    '</summary><div>',
    description === undefined ? '' : `<p>${prose(description)}</p>`,
    rows.length === 0 ? '' : `<h4>Parameters</h4><table>${rows.join('')}</table>`,
    body === undefined ? '' : `<h4>Body</h4>${typeText(body.schema)}`,
    `<h4>Try it</h4><pre>${curl(method, path, isOpen, body?.example)}</pre>`,
    `<h4>Answers</h4><table>${answers.join('')}</table></div></details>`,
  ].join('');
}

function schemaCard(name: string, schema: JsonObject): string {
  const json = text(JSON.stringify(schema, null, 2)).replaceAll(
    /#\/components\/schemas\/(\w+)/g,
    (whole, other: string) => `<a href="#schema-${other}">${whole}</a>`,
  );
  return `<details id="schema-${name}"${searchable(name)}><summary><code>${name}</code></summary><div><pre>${json}</pre></div></details>`;
}

/** A call to paste; the page's script puts in where it was read. */
function curl(method: string, path: string, isOpen: boolean, example: Json | undefined): string {
  const lines = [`curl${method === 'get' ? '' : ` -X ${method.toUpperCase()}`}`];
  if (!isOpen) lines.push('-H "Authorization: Bearer $API_KEY"');
  if (example !== undefined) {
    lines.push("-H 'Content-Type: application/json'", `-d '${JSON.stringify(example).replaceAll("'", `'\\''`)}'`);
  }
  return `${lines.map(text).join(' \\\n  ')} \\\n  '<span class="base">http://127.0.0.1:8080</span>${text(path)}'`;
}

function nameOf({ $ref = '' }: Response): string {
  return $ref.slice('#/components/responses/'.length);
}

function row(left: string, right: string): string {
  return `<tr><td>${left}</td><td>${right}</td></tr>`;
}

function searchable(words: string): string {
  return ` data-text="${text(words.toLowerCase())}"`;
}

/** Text with `code` in backquotes. */
function prose(words: string): string {
  return text(words).replaceAll(/`([^`]+)`/g, '<code>$1</code>');
}

function text(words: string): string {
  const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
  return words.replaceAll(/[&<>"']/g, (character) => entities[character] ?? character);
}
