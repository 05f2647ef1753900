import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import type { BodyDescription, SigningDescription } from '../chains/chain.ts';
import type { Clock } from '../domain/clock.ts';
import type { ErrorCode } from '../domain/errors.ts';
import type { KeyedEffect } from '../domain/idempotency.ts';
import type { Json } from '../domain/json/json.ts';
import type { PageRequest } from '../domain/page.ts';
import type { Access, AccessResource, RequiredPermission } from '../features/api-keys/records/access.ts';
import type { Actor, Caller } from '../features/api-keys/records/caller.ts';
import type { PluginHost } from '../features/plugins/host/plugin-host.ts';
import type { FamilyBodies } from '../features/resource.ts';
import { RESOURCES } from '../features/resource-table.ts';
import type { ApiServices, CallTerms } from '../features/services.ts';
import type { Health } from '../observability/health.ts';
import type { Log } from '../observability/log.ts';
import type { Exposition, Metrics } from '../observability/metrics.ts';
import type { Drain, HttpLimits } from './admission.ts';
import type { CursorIds, PlaceCursors } from './cursors.ts';
import { success, successPage } from './envelope.ts';
import type { EventSource } from './events/event-source.ts';
import { effectOf } from './idempotency-hook.ts';
import type { IdempotencyKeys } from './idempotency-keys.ts';
import { envelopeSchema, pageOf } from './openapi/answers.ts';
import type { RelayerAnswers } from './openapi/relayer-answers.ts';
import { pageRequest } from './paging.ts';
import { accessOf, assertNoBody, bodyOf } from './request.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The declaration of the route. Only pages and refusals have none. */
    operation?: Operation;
    /** The permission that the route needs. A route without one takes any accepted key. */
    requiredPermission?: RoutePermission;
  }
}

/** The action of a route and its resource: the one in the path, or the whole kind. */
export interface RoutePermission extends RequiredPermission {
  /** The route lists the resources of the kind that the key can see. */
  isList?: boolean;
}

/** The bodies and answers that depend on the chain family. Each is a union over all families. */
export interface ChainBodies extends FamilyBodies {
  policies: BodyDescription;
  /** The body that creates a relayer. */
  relayer: BodyDescription;
  /** The answers about relayers. */
  answers: RelayerAnswers;
  /** The family of the examples: the first one. */
  example: { networkType: string; unit: string };
  /** The body that sends a transaction. */
  request: BodyDescription;
  /** A transaction in answers. */
  transaction: z.ZodType;
  message: Pick<SigningDescription, 'text' | 'answer'>;
  typedData: SigningDescription;
  /** A transaction that is signed but not sent. */
  unsent: SigningDescription;
  /** A transaction whose fees a relayer pays, and the user's payment for them. */
  sponsorship: BodyDescription & { quote: z.ZodType; built: z.ZodType };
  /** The JSON-RPC methods that families answer themselves. */
  methods: string;
}

/** The groups in which the operations are shown. */
export const TAGS: Readonly<Record<string, string>> = {
  Plugins: 'Scripts that run in the service, each with its own endpoint.',
  Relayers: 'Accounts that send transactions, each with its network, signer and policies.',
  Transactions: 'Transactions that relayers send, and their history.',
  Signing: 'Signing without sending, and JSON-RPC calls that are passed to a node.',
  ...Object.fromEntries(RESOURCES.map(({ tag, about }) => [tag, about])),
  Audit: 'Records of changes, transactions and signatures, with the API key of each.',
  Operations: 'Probes, metrics, events and this API description.',
};

/** A part of the description. One that depends on the chain families is made only when the API is described. */
type Lazily<T> = T | ((chains: ChainBodies) => T);

/**
 * An HTTP operation. The route, its validation, the permission check, idempotency, the description of the API and the
 * typed client derive from this.
 */
export interface Operation {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  /** The operation's name in generated clients. */
  id: string;
  /** A key of {@link TAGS}. */
  tag: string;
  summary: string;
  description?: Lazily<string>;
  /** The permission that a key needs, or else who may call. */
  permission: `${AccessResource}:${string}` | 'any key' | 'public';
  /** The operation is refused to no key: it shows the resources that the key can see, or checks each by itself. */
  isList?: boolean;
  /** Checks path parameters that are not any text. */
  params?: z.ZodType;
  query?: z.ZodType;
  /** Absent: a body is refused. */
  body?: Lazily<BodyDescription & { isOptional?: boolean }>;
  answer: Answer;
  /** The errors of this operation, beyond those that every operation has. */
  errors: readonly ErrorCode[];
  /** Query parameters that the handler reads by itself. */
  readsQuery?: Readonly<Record<string, string>>;
  /** Headers of the request that the handler reads by itself. */
  readsHeaders?: Readonly<Record<string, string>>;
  /** Hidden in rendered documentation: the same operation is shown there under another path. */
  isAlias?: boolean;
  /** Failures outside of the error table, by status. Errors of the table may have the same status. */
  otherFailures?: Readonly<Record<number, OtherFailure>>;
  /** The failure of all other statuses. For instance a plugin chooses its own. */
  anyFailure?: OtherFailure;
  config?: FastifyContextConfig;
  handle(call: Call, parts: ApiParts): unknown;
}

/** A failure with a shape of its own. */
export interface OtherFailure {
  /** The name of the schema. */
  name: string;
  description: string;
  schema: z.ZodType;
}

/** A successful answer. It is JSON unless `contentType` is set. */
export interface Answer {
  status: number;
  description: string;
  schema: Lazily<z.ZodType>;
  contentType?: string;
  /** The kinds of events in a stream, each with its data. */
  events?: Readonly<Record<string, { name: string; data: z.ZodType }>>;
  /** Makes the body from what the handler returns; absent: the handler makes it. */
  wrap?(result: never, call: Call): unknown;
}

/** What the handlers of operations work with. */
export interface ApiParts {
  services: ApiServices;
  pluginHost: PluginHost;
  idempotencyKeys: IdempotencyKeys;
  /** Turns positions in the event stream into ids for clients. */
  cursorIds: CursorIds;
  /** Turns positions in the list of webhook deliveries into cursors for clients. */
  deliveryCursors: PlaceCursors;
  log: Log;
  metrics: Metrics;
  /** The metrics that the metrics routes serve. */
  exposition: Exposition;
  health: Health;
  limits: HttpLimits;
  clock: Clock;
  drain: Pick<Drain, 'isDraining' | 'signal'>;
  source: EventSource;
}

/** One call of an operation. Each part is read when the handler asks for it. */
export class Call<Params = unknown, Query = unknown> {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;

  constructor(request: FastifyRequest, reply: FastifyReply) {
    this.request = request;
    this.reply = reply;
  }

  get params(): Params {
    return this.request.params as Params;
  }

  get query(): Query {
    return this.request.query as Query;
  }

  /** The page that the query of a list asks for. */
  get page(): PageRequest {
    return pageRequest(this.request.query as Parameters<typeof pageRequest>[0]);
  }

  /** The parsed body. Throws `INVALID_REQUEST` when there is none. */
  get body(): unknown {
    return bodyOf(this.request);
  }

  /** Who calls, for audit records and log lines. */
  get actor(): Actor {
    return { keyId: this.request.keyId, requestId: this.request.id };
  }

  /** Who sends or signs, with the effect that happens once. */
  get by(): CallTerms {
    return { effect: this.effect, actor: this.actor };
  }

  /** Who asks for a change of settings, with the effect that happens once. */
  get caller(): Caller & { access: Access } {
    return { ...this.actor, access: this.access, effect: this.effect };
  }

  get access(): Access {
    return accessOf(this.request);
  }

  get effect(): KeyedEffect | undefined {
    return effectOf(this.request);
  }

  /** Whether the caller may send through a relayer. */
  maySend(relayerId: string): boolean {
    return this.access.may({ resource: 'relayers', action: 'send' }, relayerId);
  }
}

type ParamsOf<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Record<Name, string> & ParamsOf<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Record<Name, string>
    : unknown;

/** Declares an operation. The path tells the names of its parameters. */
export function operation<
  const Path extends string,
  Params extends z.ZodType = z.ZodType<ParamsOf<Path>>,
  Query extends z.ZodType = z.ZodType<unknown>,
>(
  declared: Omit<Operation, 'path' | 'params' | 'query' | 'handle'> & {
    path: Path;
    params?: Params;
    query?: Query;
    handle(call: Call<z.output<Params>, z.output<Query>>, parts: ApiParts): unknown;
  },
): Operation {
  return declared;
}

/** The answer with one thing in the envelope. */
export function one(description: string, schema: Lazily<z.ZodType>): Answer {
  return { status: 200, description, schema: (chains) => envelopeSchema(now(schema, chains)), wrap: success };
}

/** The answer with what was created. */
export function created(description: string, schema: Lazily<z.ZodType>): Answer {
  return { ...one(description, schema), status: 201 };
}

/** The answer with the page of a list that the query asks for. */
export function page(description: string, items: Lazily<z.ZodType>): Answer {
  return {
    status: 200,
    description,
    schema: (chains) => pageOf(now(items, chains)),
    wrap: (found, call) => successPage(found, call.page),
  };
}

/** The answer whose body the handler makes. */
export function raw(description: string, schema: Lazily<z.ZodType>): Answer {
  return { status: 200, description, schema };
}

/** The errors of every body, before its content is checked. */
export const BODY: readonly ErrorCode[] = [
  'INVALID_REQUEST',
  'REQUEST_TIMEOUT',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
];
export const OF_RELAYER: readonly ErrorCode[] = ['RELAYER_NOT_FOUND'];
export const ACTING: readonly ErrorCode[] = ['RELAYER_PAUSED', 'RELAYER_DISABLED', 'RELAYER_LIMITED'];

/** The errors of an idempotency key. */
const KEYED: readonly ErrorCode[] = [
  'INVALID_REQUEST',
  'IDEMPOTENCY_MISMATCH',
  'IDEMPOTENCY_RUNNING',
  'ANSWER_NOT_KEPT',
];

/** Errors of the service itself, which every operation can have, also the public ones. */
const ANY: readonly ErrorCode[] = ['TOO_MANY_REQUESTS', 'INTERNAL', 'UNAVAILABLE', 'HANDLER_TIMEOUT'];

/** An operation with all that is said of it. */
export interface DescribedOperation extends Omit<Operation, 'body' | 'answer' | 'description'> {
  description?: string | undefined;
  body: { schema: z.ZodType; required: boolean; example: Json } | undefined;
  answer: Omit<Answer, 'schema'> & { schema: z.ZodType };
  /** Whether it honours an idempotency key: it may have an effect. */
  takesKey: boolean;
}

export function describedOperation(declared: Operation, chains: ChainBodies): DescribedOperation {
  const { isOptional = false, ...body } = now(declared.body, chains) ?? {};
  const takesKey =
    declared.config?.runsPlugin === true || (declared.method !== 'GET' && declared.permission !== 'public');
  return {
    ...declared,
    description: now(declared.description, chains),
    body: 'schema' in body ? { schema: body.schema, required: !isOptional, example: body.example } : undefined,
    answer: { ...declared.answer, schema: now(declared.answer.schema, chains) },
    takesKey,
    errors: takesKey ? [...new Set([...declared.errors, ...KEYED])] : declared.errors,
  };
}

function now<T>(part: Lazily<T>, chains: ChainBodies): T {
  return typeof part === 'function' ? (part as (chains: ChainBodies) => T)(chains) : part;
}

/** The permission that a key needs; undefined when any key will do, or none. */
export function permissionOf({ permission, isList }: Pick<Operation, 'permission' | 'isList'>) {
  if (permission === 'any key' || permission === 'public') return undefined;
  const [resource, action] = permission.split(':') as [AccessResource, string];
  const need: RoutePermission = { resource, action, ...(isList === true && { isList }) };
  return need;
}

/** Whether access is decided for the one relayer or plugin in the path. Of any other kind a key sees all or none. */
export function namesOne({ path, permission }: Pick<Operation, 'path' | 'permission'>): boolean {
  return path.includes('/:id') && /^(relayers|plugins):/.test(permission);
}

/** Returns all errors that an operation can have. */
export function possibleErrors(
  operation: Pick<Operation, 'method' | 'path' | 'permission' | 'isList' | 'errors'>,
): ErrorCode[] {
  const { method, permission, isList } = operation;
  const needsKey = permission !== 'public';
  const needsPermission = needsKey && permission !== 'any key';
  const codes: ErrorCode[] = [...operation.errors];
  // Operations without a body have these errors too: the service reads a body before it refuses it.
  if (method !== 'GET') codes.push(...BODY);
  if (needsKey) codes.push('UNAUTHORIZED');
  if (needsPermission) codes.push('NOT_PERMITTED');
  if (needsKey) codes.push('ORIGIN_NOT_ALLOWED');
  // If a key sees nothing of a kind, the paths of that kind do not exist for it.
  if (needsPermission && isList !== true && !namesOne(operation)) codes.push('ROUTE_NOT_FOUND');
  return [...new Set([...codes, ...ANY])];
}

/** Refuses every later route that no operation declares, so that the service does not start with it. */
export function refuseUndeclared(app: FastifyInstance): void {
  app.addHook('onRoute', ({ config = {}, method, url }) => {
    const { operation, isPage, isRefusal } = config;
    if (operation === undefined && isPage !== true && isRefusal !== true) {
      throw new Error(`No operation declares ${[method].flat().join()} ${url}`);
    }
  });
}

/** Adds the routes of operations. */
export function register(app: FastifyInstance, operations: readonly Operation[], parts: ApiParts): void {
  for (const operation of operations) {
    const { method, path: url, params, query, config, permission } = operation;
    const need = permissionOf(operation);
    app.route({
      method,
      url,
      schema: { ...(params && { params }), ...(query && { querystring: query }) },
      config: {
        ...config,
        operation,
        ...(permission === 'public' && { isPublic: true }),
        ...(need && { requiredPermission: need }),
      },
      // A HEAD request would run the plugin, or open the stream, and discard the answer.
      exposeHeadRoute: config?.runsPlugin !== true && config?.isStream !== true,
      ...(config?.runsPlugin === true && { bodyLimit: parts.limits.pluginBodyBytes }),
      handler: handlerOf(operation, parts),
    });
  }
}

function handlerOf({ method, body, answer, handle }: Operation, parts: ApiParts) {
  const refusesBody = body === undefined && method !== 'GET';
  const answered = (result: unknown, call: Call): unknown => {
    if (answer.status !== 200) call.reply.code(answer.status);
    return answer.wrap === undefined ? result : answer.wrap(result as never, call);
  };
  return (request: FastifyRequest, reply: FastifyReply): unknown => {
    if (refusesBody) assertNoBody(request);
    const call = new Call(request, reply);
    const result = handle(call, parts);
    if (result instanceof Promise) return result.then((value) => answered(value, call));
    const body = answered(result, call);
    // Fastify takes undefined for an answer that is still to come.
    return body === undefined ? Promise.resolve() : body;
  };
}
