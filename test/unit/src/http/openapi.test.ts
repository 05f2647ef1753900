import { Validator } from '@seriousme/openapi-schema-validator';
import t from 'tap';
import { DEFAULT_LIMITS } from '../../../../sandbox/contract.ts';
import { createChains } from '../../../../src/chains/registry.ts';
import { systemClock } from '../../../../src/domain/clock.ts';
import { ERRORS, type ErrorCode } from '../../../../src/domain/errors.ts';
import { pluginCallOperations, pluginSchema } from '../../../../src/features/plugins/operations.ts';
import { pluginEntrySchema } from '../../../../src/features/plugins/records/plugin.ts';
import { signerResource } from '../../../../src/features/signers/signers.ts';
import { signingOperations } from '../../../../src/features/signing/operations.ts';
import { lifecycleOperations, timelineSchema } from '../../../../src/features/transactions/operations.ts';
import { timelineOf } from '../../../../src/features/transactions/timeline.ts';
import { webhookEventNameSchema } from '../../../../src/features/webhooks/records/webhook-event.ts';
import { describeApi } from '../../../../src/http/openapi/document.ts';
import { exampleOf, textOf } from '../../../../src/http/openapi/error-example.ts';
import { describeWebhooks, webhookEventSchema } from '../../../../src/http/openapi/webhooks.ts';
import { type Operation, possibleErrors } from '../../../../src/http/operation.ts';
import { ALL_OPERATIONS, describedOperations } from '../../../../src/http/operation-table.ts';
import { describedApi, descriptionText } from '../../../client/description.ts';
import { describedBodies } from '../../../support/described.ts';
import { startHttp } from '../../../support/http-server.ts';
import { attemptOf, transactionOf } from '../../../support/store.ts';

t.test('document', async (t) => {
  const parts = describedBodies();

  t.test('the running server serves the description of its routes, which is OpenAPI 3.1', async (t) => {
    const { call } = await startHttp(t);
    const { json, text, headers } = await call('/api-docs/openapi.json', { headers: { authorization: '' } });
    t.equal(text, descriptionText(describedApi()), 'npm run client writes it');
    t.match(headers.get('content-type'), 'application/json');
    const { valid, errors } = await new Validator().validate(structuredClone(json) as Record<string, unknown>);
    t.ok(valid, JSON.stringify(errors)?.slice(0, 2000));
    t.match(json, { openapi: '3.1.1', security: [{ key: [] }] });
  });

  t.test('every reference leads somewhere, every schema and answer is referred to', async (t) => {
    const text = JSON.stringify(describeApi(parts));
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
    const text = JSON.stringify(describeApi(parts));
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
});

t.test('operations', async (t) => {
  const chains = createChains(systemClock);
  const all = describedOperations(describedBodies(chains));

  /** Codes that no operation answers with: for unknown paths, for other methods, and for a start that fails. */
  const ELSEWHERE: readonly ErrorCode[] = ['ROUTE_NOT_FOUND', 'METHOD_NOT_ALLOWED', 'SIGNER_UNUSABLE'];
  /** Codes that only a plugin's code meets, as errors of its calls. */
  const IN_PLUGINS: readonly ErrorCode[] = ['GRANT_EXCEEDED', 'BUDGET_SPENT', 'FETCH_FAILED'];
  /** Codes that every operation may answer with. */
  const EVERYWHERE: readonly ErrorCode[] = [
    'UNAUTHORIZED',
    'NOT_PERMITTED',
    'ORIGIN_NOT_ALLOWED',
    'TOO_MANY_REQUESTS',
    'INTERNAL',
    'UNAVAILABLE',
    'HANDLER_TIMEOUT',
  ];

  t.test('ids are unique', (t) => {
    const ids = Object.values(all).map(({ id }) => id);
    t.strictSame([...new Set(ids)], ids);
    t.end();
  });

  t.test('each row of the error table is the answer of some operation', (t) => {
    const named = new Set([
      ...Object.values(all).flatMap(({ errors }) => errors),
      ...ELSEWHERE,
      ...IN_PLUGINS,
      ...EVERYWHERE,
    ]);
    t.strictSame(
      (Object.keys(ERRORS) as ErrorCode[]).filter((code) => !named.has(code)),
      [],
    );
    t.end();
  });

  t.test('each example of a body is one', (t) => {
    for (const [route, { body }] of Object.entries(all)) {
      if (body !== undefined) t.ok(body.schema.safeParse(body.example).success, route);
    }
    t.end();
  });
});

t.test('bodies are those of the families', (t) => {
  const { policies, networks, request } = describedBodies();
  t.ok(policies.schema.safeParse({ gas_price_cap: 5 }).success);
  t.ok(policies.schema.safeParse({ allowed_programs: [] }).success);
  t.notOk(policies.schema.safeParse({ no_such_policy: 1 }).success);
  const network = { name: 'n', network_type: 'stellar', rpc_urls: ['https://rpc.example'], passphrase: 'mine' };
  t.ok(networks.create.schema.safeParse(network).success);
  t.notOk(networks.create.schema.safeParse({ ...network, chain_id: 5 }).success, 'a field of another family');
  t.ok(networks.update.schema.safeParse({ passphrase: null }).success);
  t.ok(request.schema.safeParse({ value: 1, data: '0x' }).success);
  t.end();
});

t.test('error example', async (t) => {
  const family = { networkType: 'evm', unit: 'wei' };

  t.test('no example and no description is left with a placeholder for its whole reason', async (t) => {
    for (const code of Object.keys(ERRORS) as ErrorCode[]) {
      const { message, publicMessage, status } = exampleOf(code, family);
      t.notMatch(`${message} ${publicMessage}`, /\{\w+\}|undefined/, code);
      t.equal(status, ERRORS[code].status);
      t.not(textOf(code), '{reason}');
    }
    t.equal(exampleOf('INVALID_REQUEST', family).message, 'missing field `value`');
    t.equal(exampleOf('PLUGIN_NOT_FOUND', family).message, 'Plugin with id double not found');
  });
});

t.test('possible errors', async (t) => {
  const of = (method: Operation['method'], path: string, permission: Operation['permission'], isList = false) =>
    possibleErrors({ method, path, permission, isList, errors: [] });

  t.test('whatever needs a key may end for its sake', (t) => {
    const ofService = ['TOO_MANY_REQUESTS', 'INTERNAL', 'UNAVAILABLE', 'HANDLER_TIMEOUT'];
    t.strictSame(of('GET', '/api/v1/health', 'public'), ofService);
    const ofKey = ['UNAUTHORIZED', 'NOT_PERMITTED', 'ORIGIN_NOT_ALLOWED'];
    t.strictSame(of('GET', '/api/v1/relayers/:id', 'relayers:read'), [...ofKey, ...ofService]);
    const ofAny = ['UNAUTHORIZED', 'ORIGIN_NOT_ALLOWED'];
    t.strictSame(of('GET', '/api/v1/api-keys/current', 'any key'), [...ofAny, ...ofService]);
    t.end();
  });

  t.test('a kind that the key does not see has no paths, but for lists that are empty', (t) => {
    const mayBeNoPath = (id: string) =>
      ALL_OPERATIONS.some((one) => one.id === id && possibleErrors(one).includes('ROUTE_NOT_FOUND'));
    for (const id of ['listSigners', 'getSigner', 'createRelayer']) t.ok(mayBeNoPath(id), id);
    for (const id of ['listRelayers', 'getRelayer', 'callPluginGet', 'health']) t.notOk(mayBeNoPath(id), id);
    t.end();
  });

  t.test('what may carry a body may be refused for it, once', (t) => {
    const codes = possibleErrors({
      method: 'DELETE',
      path: '/api/v1/relayers/:id',
      permission: 'relayers:write',
      errors: ['INVALID_REQUEST', 'RELAYER_NOT_FOUND'],
    });
    t.ok(codes.includes('UNSUPPORTED_MEDIA_TYPE') && codes.includes('PAYLOAD_TOO_LARGE'));
    t.equal(new Set(codes).size, codes.length);
    t.end();
  });
});

t.test('lifecycle operations', async (t) => {
  t.test('what changes a transaction is gated, what reads is not', (t) => {
    for (const { id, method, errors } of lifecycleOperations) {
      const gates: readonly ErrorCode[] = ['RELAYER_PAUSED', 'RELAYER_DISABLED'];
      t.equal(
        gates.every((code) => errors.includes(code)),
        method !== 'GET',
        id,
      );
    }
    t.end();
  });

  t.test('a timeline is as it is described', (t) => {
    const transaction = transactionOf({ status: 'failed', statusReason: 'why' });
    const acceptedAt = transaction.createdAt + 1;
    const timeline = timelineOf(
      {
        transaction,
        attempts: [attemptOf(transaction, { acceptedAt }), attemptOf(transaction, { ordinal: 2, purpose: 'bump' })],
        decisions: [{ at: acceptedAt, kind: 'gap-filled', text: 'why' }],
        intents: [
          { kind: 'cancel', createdAt: acceptedAt, settledAt: null, refusal: null },
          { kind: 'replace', createdAt: acceptedAt, settledAt: acceptedAt, refusal: 'no' },
        ],
        endedAt: acceptedAt,
      },
      {
        transactionView: () => ({}),
        attemptView: () => ({ gas_limit: 1 }),
        inclusionView: () => ({ block_number: 1 }),
      },
    );
    t.same(timelineSchema.parse(timeline), timeline);
    t.equal((timeline['events'] as unknown[]).length, 9);
    t.end();
  });
});

t.test('signing operations', async (t) => {
  const described = describedOperations(describedBodies());

  t.test('each example is a body, and what is sent on without a name is described', (t) => {
    for (const { method, path, errors } of signingOperations) {
      const route = `${method} ${path}`;
      const body = described[route]?.body;
      t.ok(body?.schema.safeParse(body.example).success, route);
      t.ok(errors.includes('RELAYER_PAUSED'), `${route} is gated`);
    }
    t.match(described['POST /api/v1/relayers/:id/sign-transaction']?.description, /is the risk of the caller/);
    t.end();
  });

  t.test('typed data are described in both their forms', (t) => {
    const schema = described['POST /api/v1/relayers/:id/sign-typed-data']?.body?.schema;
    const whole = { domain: { name: 'x' }, types: { A: [{ name: 'a', type: 'bool' }] }, primaryType: 'A', message: {} };
    t.ok(schema?.safeParse(whole).success);
    t.notOk(schema?.safeParse({ domain_separator: '0x' }).success);
    t.end();
  });

  t.test('a transaction that is signed only is described with all that it needs', (t) => {
    const schema = described['POST /api/v1/relayers/:id/sign-transaction']?.body?.schema;
    const whole = { value: 1, nonce: 0, gas_limit: 21_000, gas_price: 1 };
    t.ok(schema?.safeParse(whole).success);
    for (const key of ['nonce', 'gas_limit', 'value']) {
      t.notOk(schema?.safeParse({ ...whole, [key]: undefined }).success, key);
    }
    t.end();
  });

  t.test('what users pay is asked with the transaction and the token', (t) => {
    for (const step of ['quote', 'build']) {
      const operation = described[`POST /api/v1/relayers/:id/transactions/sponsored/${step}`];
      t.ok(operation?.body?.schema.safeParse({ transaction: 'AQAB', fee_token: 'x' }).success);
      t.notOk(operation?.body?.schema.safeParse({ transaction: 'AQAB' }).success);
    }
    t.match(described['POST /api/v1/relayers/:id/rpc']?.description, /Solana: feeEstimate, /);
    t.end();
  });

  t.test('a JSON-RPC call needs a method only', (t) => {
    const schema = described['POST /api/v1/relayers/:id/rpc']?.body?.schema;
    t.ok(schema?.safeParse({ method: 'eth_chainId' }).success);
    t.ok(schema?.safeParse({ jsonrpc: '2.0', method: 'eth_chainId', id: null }).success);
    t.notOk(schema?.safeParse({ id: 1 }).success);
    t.end();
  });
});

t.test('the body is that of any kind that clients can make, with its secrets as texts', (t) => {
  const body = describedOperations(describedBodies())['POST /api/v1/signers']?.body;
  t.ok(body?.schema.safeParse(body.example).success);
  t.notOk(body?.schema.safeParse({ type: 'local', config: { path: 'x', passphrase: 'x' } }).success);
  t.ok(signerResource.schema.safeParse({ id: 'k', type: 'local', config: {} }).success);
  t.notOk(signerResource.schema.safeParse({ id: 'k', type: 'local', config: {}, key: 'x' }).success);
  t.end();
});

t.test('a plugin is shown with every key of its entry and every limit', (t) => {
  const shown = Object.keys(pluginSchema.shape);
  for (const key of Object.keys(pluginEntrySchema.shape)) t.ok(shown.includes(key), key);
  const limits = [...Object.keys(DEFAULT_LIMITS), 'lifetime'];
  t.strictSame(Object.keys(pluginSchema.shape.limits.shape).toSorted(), limits.toSorted());
  t.end();
});

t.test('calls may be refused for a method that is off, views only for want of the plugin', (t) => {
  for (const { method, errors } of pluginCallOperations) {
    t.equal(errors.includes('PLUGIN_GET_DISABLED'), method === 'GET');
  }
  t.strictSame(ALL_OPERATIONS.find(({ id }) => id === 'getPlugin')?.errors, ['PLUGIN_NOT_FOUND']);
  t.end();
});

t.test('every event is described, with the headers that its deliveries have', (t) => {
  const described = describeWebhooks({ $ref: '#/x' }) as Record<string, { post: { parameters: { name: string }[] } }>;
  t.strictSame(Object.keys(described), webhookEventNameSchema.options);
  for (const { post } of Object.values(described)) {
    t.strictSame(
      post.parameters.map(({ name }) => name),
      ['X-Signature', 'webhook-id', 'webhook-timestamp', 'webhook-signature'],
    );
  }
  t.end();
});

t.test('a body is one of its kind by its payload type', (t) => {
  const event = { id: 'e', event: 'transaction_update', timestamp: '2026-11-22T20:06:31.180+00:00' };
  t.ok(webhookEventSchema.safeParse({ ...event, payload: { payload_type: 'transaction', id: 't' } }).success);
  t.notOk(webhookEventSchema.safeParse({ ...event, payload: {} }).success);
  t.end();
});
