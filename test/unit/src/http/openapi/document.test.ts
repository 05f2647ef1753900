import { Validator } from '@seriousme/openapi-schema-validator';
import { fastify } from 'fastify';
import t from 'tap';
import { describeApi } from '../../../../../src/http/openapi/document.ts';
import { operations } from '../../../../../src/http/openapi/operations.ts';
import { collectRoutes, type RouteTable } from '../../../../../src/http/routing.ts';
import { describedApi } from '../../../../client/described-api.ts';
import { descriptionText } from '../../../../client/description-text.ts';
import { describedBodies } from '../../../../support/described.ts';
import { startHttp } from '../../../../support/http-server.ts';

const parts = describedBodies();

/** A table of all described routes. Their handlers do nothing. */
function describedRoutes(): RouteTable {
  const app = fastify();
  const table = collectRoutes(app);
  for (const route of Object.keys(operations(parts))) {
    const [method = '', url = ''] = route.split(' ');
    app.route({ method, url, exposeHeadRoute: false, handler: () => '' });
  }
  return table;
}

t.test('the running server serves the description of its routes, which is OpenAPI 3.1', async (t) => {
  const { call } = await startHttp(t);
  const { json, text, headers } = await call('/api-docs/openapi.json', { headers: { authorization: '' } });
  t.equal(text, descriptionText(await describedApi(t)), 'npm run client writes it');
  t.match(headers.get('content-type'), 'application/json');
  const { valid, errors } = await new Validator().validate(structuredClone(json) as Record<string, unknown>);
  t.ok(valid, JSON.stringify(errors)?.slice(0, 2000));
  t.match(json, { openapi: '3.1.1', security: [{ key: [] }] });
});

t.test('every reference leads somewhere, every schema and answer is referred to', async (t) => {
  const text = JSON.stringify(describeApi(describedRoutes(), parts));
  const { components } = JSON.parse(text) as { components: Record<string, Record<string, unknown>> };
  const references = new Set([...text.matchAll(/"\$ref":"#\/components\/([\w/.]+)"/g)].map(([, path]) => path));
  t.equal(text.match(/"\$ref":/g)?.length, text.match(/"\$ref":"#\/components\//g)?.length);
  for (const kind of ['schemas', 'responses']) {
    for (const name of Object.keys(components[kind] ?? {})) {
      if (/^(Balance|RelayerStatus|Notification)$/.test(name)) continue;
      t.ok(references.delete(`${kind}/${name}`), `${kind}/${name}`);
    }
  }
  t.strictSame(
    [...references].filter((path) => !/Balance|RelayerStatus|Notification/.test(path ?? '')),
    [],
  );
});

t.test('what a relayer sends says its units, and what it only signs its nonce', async (t) => {
  const text = JSON.stringify(describeApi(describedRoutes(), parts));
  const { components } = JSON.parse(text) as { components: { schemas: Record<string, Shape> } };
  const { EvmTransactionRequest: sent, EvmUnsentTransaction: unsent } = components.schemas;
  for (const name of ['value', 'gas_limit', 'gas_price', 'max_fee_per_gas', 'max_priority_fee_per_gas']) {
    t.match(sent?.properties[name]?.description, /^In (wei|units of gas)/, name);
  }
  t.strictSame(sent?.required, ['value']);
  t.strictSame(unsent?.required.toSorted(), ['gas_limit', 'nonce', 'value']);
});

interface Shape {
  properties: Record<string, { description?: string }>;
  required: string[];
}

t.test('a route without a description, or the other way round, is an error that names it', (t) => {
  const table = describedRoutes();
  table.set('/new', { methods: new Map([['GET', {}]]), isPublic: false, isPage: false });
  t.throws(() => describeApi(table, parts), { message: 'openapi/operations.ts says nothing of GET /new' });
  table.delete('/new');
  table.delete('/api/v1/relayers/:id');
  t.throws(() => describeApi(table, parts), {
    message:
      'openapi/operations.ts describes no route: DELETE /api/v1/relayers/:id, GET /api/v1/relayers/:id, PATCH /api/v1/relayers/:id',
  });
  t.end();
});

/** The parts of an operation that the next test checks. */
interface Described {
  'x-permission'?: string;
  parameters: { name: string; in: string; schema: unknown }[];
  security?: unknown[];
  responses: Record<string, { content: Record<string, { schema: unknown }> }>;
}

t.test('paths, parameters and failures of an operation', async (t) => {
  const { call } = await startHttp(t);
  const { json } = await call('/api-docs/openapi.json');
  const { paths } = json as { paths: Record<string, Record<string, Described>> };
  const list = paths['/api/v1/relayers/{id}/transactions']?.['get'];
  t.match(
    list?.parameters.map(({ name, in: place }) => `${place} ${name}`),
    ['path id', 'query page', 'query per_page', 'query status'],
  );
  t.match(list?.parameters[1]?.schema, { type: 'integer', minimum: 0 });
  t.match(list?.parameters[3], {
    description: 'Only transactions with this status, in any letter case',
    schema: { type: 'string', enum: ['pending', 'sent', 'submitted', 'mined', 'confirmed'] },
  });
  t.strictSame(Object.keys(list?.responses ?? {}), ['200', '400', '401', '403', '404', '429', '500', '503', '504']);
  t.equal(list?.['x-permission'], 'relayers:{id}:read');
  t.strictSame(paths['/api/v1/health']?.['get']?.security, [], 'the probe needs no key');
  const plugin = paths['/plugins/{id}/call/{route}']?.['post'];
  for (const status of ['400', '500', 'default']) {
    t.match(plugin?.responses[status]?.content['application/json']?.schema, {
      anyOf: [{ $ref: '#/components/schemas/PluginFailure' }, { $ref: '#/components/schemas/Failure' }],
    });
  }
});
