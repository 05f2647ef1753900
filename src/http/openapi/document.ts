import { z } from 'zod';
import { ERRORS, type ErrorCode } from '../../domain/errors.ts';
import type { JsonObject } from '../../domain/json/json.ts';
import { jsonSchemas } from '../../domain/json/json-schema.ts';
import { RESOURCE_PATHS } from '../../features/api-keys/records/access.ts';
import { RESOURCES } from '../../features/resource-table.ts';
import { HTTP_LIMITS } from '../admission.ts';
import { failure } from '../envelope.ts';
import {
  type ChainBodies,
  type DescribedOperation,
  namesOne,
  type OtherFailure,
  permissionOf,
  possibleErrors,
  TAGS,
} from '../operation.ts';
import { describedOperations, NAMED_ANSWERS } from '../operation-table.ts';
import { MAX_PLUGIN_VALUES, MAX_VALUES } from '../request.ts';
import { exampleOf, textOf } from './error-example.ts';
import { describeWebhooks, webhookEventSchema } from './webhooks.ts';

/** The parts of the description other than the routes. */
export interface DocumentParts extends ChainBodies {
  /** Schemas of bodies that are shown under a name of their own. */
  named: Readonly<Record<string, z.ZodType>>;
}

const DESCRIPTION = [
  'Every request except the probes needs the header `Authorization: Bearer <API key>`. `x-permission` is the',
  'permission that the key needs. Responses have the fields `success`, `data` and `error`; lists also have',
  '`pagination`. In a failure `error` is the specific reason, and `message` the fixed text for this kind of failure.',
  'Integers beyond 2^53 are exact: send them as JSON numbers or as decimal strings, and parse responses accordingly.',
].join(' ');

/** Describes the operations in OpenAPI 3.1. */
export function describeApi(parts: DocumentParts): JsonObject {
  const components = new Components(parts);
  const paths: Record<string, JsonObject> = {};
  for (const operation of Object.values(describedOperations(parts))) {
    const path = operation.path.replace(/:(\w+)/g, '{$1}').replace('*', '{route}');
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: describe(operation, components) };
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Isolayer',
      version: '1',
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    security: [{ key: [] }],
    paths,
    webhooks: describeWebhooks(components.output('WebhookEvent', webhookEventSchema)),
    components: {
      securitySchemes: { key: { type: 'http', scheme: 'bearer', description: 'An API key of the service' } },
      ...components.described(),
    },
  };
}

/** Collects the schemas and failures that operations refer to, so that each is described once. */
class Components {
  readonly #inputs: Record<string, z.ZodType>;
  readonly #outputs: Record<string, z.ZodType>;
  readonly #failures: Record<string, JsonObject> = {};
  readonly #family: DocumentParts['example'];

  constructor({ named, transaction, answers, example }: DocumentParts) {
    this.#family = example;
    this.#inputs = { ...named };
    this.#outputs = {
      ...NAMED_ANSWERS,
      Relayer: answers.relayer,
      RelayerStatus: answers.status,
      Balance: answers.balance,
      Transaction: transaction,
    };
  }

  input(name: string, schema: z.ZodType): JsonObject {
    this.#inputs[name] = schema;
    return schemaReference(name);
  }

  output(name: string, schema: z.ZodType): JsonObject {
    const [known] = Object.entries(this.#outputs).find(([, one]) => one === schema) ?? [];
    if (known === undefined) this.#outputs[name] = schema;
    return schemaReference(known ?? name);
  }

  /** Returns a reference to the failure answer of these rows, which share one status. */
  failure(rows: readonly ErrorCode[]): JsonObject {
    const name = rows.join('.');
    this.#failures[name] ??= this.#failureAnswer(rows, schemaReference('Failure'));
    return { $ref: `#/components/responses/${name}` };
  }

  /** Returns the answer of a status that both the service and the called plugin use. */
  eitherFailure(rows: readonly ErrorCode[], other: OtherFailure): JsonObject {
    const anyOf = [this.output(other.name, other.schema), schemaReference('Failure')];
    return this.#failureAnswer(rows, { anyOf }, [other.description]);
  }

  #failureAnswer(rows: readonly ErrorCode[], schema: JsonObject, others: readonly string[] = []): JsonObject {
    const examples = Object.fromEntries(
      rows.map((code) => [code, { value: { ...failure(exampleOf(code, this.#family)) } }]),
    );
    const asksToWait = rows.some((code) => ASKING_TO_WAIT.has(ERRORS[code].status) || code === 'IDEMPOTENCY_RUNNING');
    return {
      description: [...others, ...rows.map(textOf)].join('; '),
      ...(asksToWait ? { headers: RETRY_AFTER } : {}),
      content: { 'application/json': { schema, examples } },
    };
  }

  described(): { schemas: JsonObject; responses: JsonObject } {
    const refer = (name: string) => `#/components/schemas/${name}`;
    return {
      schemas: { ...jsonSchemas(this.#outputs, 'output', refer), ...jsonSchemas(this.#inputs, 'input', refer) },
      responses: this.#failures,
    };
  }
}

function schemaReference(name: string): JsonObject {
  return { $ref: `#/components/schemas/${name}` };
}

function describe(operation: DescribedOperation, components: Components): JsonObject {
  const { path, id, tag, summary, description, body, answer } = operation;
  const need = permissionOf(operation);
  const name = `${id.slice(0, 1).toUpperCase()}${id.slice(1)}`;
  const content = answer.contentType ?? 'application/json';
  return {
    operationId: id,
    // OpenAPI renderers hide operations with `x-internal`.
    ...(operation.isAlias === true ? { 'x-internal': true } : {}),
    tags: [tag],
    summary,
    ...(description === undefined ? {} : { description }),
    ...(operation.permission === 'public' ? { security: [] } : {}),
    parameters: [
      ...pathParameters(path, operation.params),
      ...queryParameters(operation.query, operation.readsQuery),
      ...headerParameters(operation.readsHeaders),
      ...(operation.takesKey ? [KEY_PARAMETER] : []),
    ],
    ...(body === undefined
      ? {}
      : { requestBody: requestBody(body, components.input(`${name}Body`, body.schema), path) }),
    responses: {
      [answer.status]: {
        description: answer.description,
        ...(operation.takesKey ? { headers: REPLAYED } : {}),
        content: {
          [content]: { schema: components.output(`${name}Answer`, answer.schema), ...eventsOf(answer, components) },
        },
      },
      ...failures(operation, possibleErrors(operation), components),
    },
    // The permission as API keys list it.
    ...(need === undefined
      ? {}
      : { 'x-permission': `${need.resource}:${namesOne(operation) ? '{id}:' : ''}${need.action}` }),
  };
}

/** Describes the events of a stream in an extension, because OpenAPI 3.1 cannot describe them. */
function eventsOf({ events }: DescribedOperation['answer'], components: Components): JsonObject {
  if (events === undefined) return {};
  const kinds = Object.entries(events).map(([kind, { name, data }]) => [kind, components.output(name, data)]);
  return { 'x-events': Object.fromEntries(kinds) };
}

/** The bounds of a body as a whole are said in words, since no schema can state them. */
function requestBody(
  { required, example }: NonNullable<DescribedOperation['body']>,
  schema: JsonObject,
  url: string,
): JsonObject {
  const isCall = url.includes('/plugins/:id/call');
  const bytes = isCall ? HTTP_LIMITS.pluginBodyBytes : HTTP_LIMITS.bodyBytes;
  const values = isCall ? MAX_PLUGIN_VALUES : MAX_VALUES;
  const description = `At most ${bytes.toLocaleString('en')} bytes and ${values.toLocaleString('en')} JSON values`;
  return { description, required, content: { 'application/json': { schema, example } } };
}

function pathParameters(url: string, validated: unknown): JsonObject[] {
  const names = [...url.matchAll(/:(\w+)|\*/g)].map(([, name]) => name ?? 'route');
  const schemas = fieldsOf(validated);
  return names.map((name) => {
    const { description, ...schema } = schemas[name] ?? { type: 'string' };
    return {
      name,
      in: 'path',
      required: true,
      ...(description === undefined ? {} : { description }),
      schema,
      example: exampleOfName(name, url),
    };
  });
}

/** The fields of a route's schema, each in JSON Schema. */
function fieldsOf(validated: unknown): Record<string, JsonObject> {
  const { properties = {} } =
    validated instanceof z.ZodObject ? (jsonSchemas({ fields: validated }, 'input', String)['fields'] ?? {}) : {};
  return properties as Record<string, JsonObject>;
}

/** Returns an example for a path parameter, so that the displayed call can be pasted. */
function exampleOfName(name: string, url: string): string {
  if (name === 'route') return 'any/further/path';
  if (name === 'name') return 'isolayer_http_requests_total';
  if (name === 'nonce') return '7';
  if (name !== 'id') return '5f0c8f4e-6f5b-4d5a-9d3c-2f1f6f1c2a10';
  if (url.includes('/plugins/')) return 'hello';
  const kind = RESOURCES.find(({ name: one }) => url.includes(`/${RESOURCE_PATHS[one]}/`));
  return kind?.exampleId ?? 'sepolia-1';
}

/** Returns the query parameters: those in the route's schema, and those that its handler reads itself. */
function queryParameters(validated: unknown, read: DescribedOperation['readsQuery'] = {}): JsonObject[] {
  return [
    ...Object.entries(fieldsOf(validated)).map(([name, { description, ...schema }]) => ({
      name,
      in: 'query',
      required: false,
      ...(description === undefined ? {} : { description }),
      schema,
    })),
    ...Object.entries(read).map(([name, description]) => ({
      name,
      in: 'query',
      required: false,
      description,
      schema: { type: 'string' },
    })),
  ];
}

function headerParameters(read: DescribedOperation['readsHeaders'] = {}): JsonObject[] {
  return Object.entries(read).map(([name, description]) => ({
    name,
    in: 'header',
    required: false,
    description,
    schema: { type: 'string' },
  }));
}

/** Every failure by its status, with the body of each row of the error table as an example. */
function failures(
  operation: DescribedOperation,
  codes: readonly ErrorCode[],
  components: Components,
): Record<string, JsonObject> {
  const answers: Record<string, JsonObject> = {};
  for (const status of [...new Set(codes.map((code) => ERRORS[code].status))].sort((a, b) => a - b)) {
    const rows = codes.filter((code) => ERRORS[code].status === status);
    const other = operation.otherFailures?.[status] ?? operation.anyFailure;
    answers[status] = other === undefined ? components.failure(rows) : components.eitherFailure(rows, other);
  }
  if (operation.anyFailure !== undefined) answers['default'] = components.eitherFailure([], operation.anyFailure);
  return answers;
}

const ASKING_TO_WAIT: ReadonlySet<number> = new Set([429, 503]);

const KEY_PARAMETER = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'Makes the request safe to repeat. Use a new text for each request of this API key. For at least 24 hours a ' +
    'repeat of the same request gets the response to the first one. The service keeps successful responses, and ' +
    'responses of plugins that refused after an effect. After any other response a repeat runs again, but no effect ' +
    'happens twice. A plugin that runs again also gets the same refusals of its effects again, once one of its ' +
    'effects has happened.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x21-\\x7e]+$' },
};

const REPLAYED = {
  'idempotency-replayed': {
    description: '`true` if this is the response to an earlier request with the same idempotency key',
    schema: { type: 'string', enum: ['true'] },
  },
};

const RETRY_AFTER = { 'retry-after': { description: 'Seconds to wait', schema: { type: 'integer' } } };
