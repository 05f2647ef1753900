import type { DisabledReason } from '../features/relayers/records/disabled-reason.ts';

/**
 * The one table of errors that the service answers with. `text` says what happened and names the thing; `message` is
 * the fixed text of the seed's error table where it differs from `text`. A code is never reused.
 */
export const ERRORS = {
  INVALID_REQUEST: { status: 400, retryable: false, text: '{reason}', message: 'Bad Request' },
  UNAUTHORIZED: { status: 401, retryable: false, text: 'Unauthorized' },
  /** The same for an unknown hook as for a wrong signature: nobody is to find hooks by asking. */
  WEBHOOK_REFUSED: {
    status: 401,
    retryable: false,
    text: 'There is no such hook, or the signature of the webhook is missing, wrong or too old',
    message: 'Unauthorized',
  },
  RELAYER_PAUSED: { status: 403, retryable: true, text: 'Relayer paused' },
  RELAYER_DISABLED: { status: 403, retryable: true, text: 'Relayer disabled: {reason}', message: 'Relayer disabled' },
  /** A transaction that a plugin's grant does not allow, ever. */
  GRANT_EXCEEDED: {
    status: 403,
    retryable: false,
    text: 'Plugin {plugin} may not send this through relayer {relayer}: {rule} allows {limit}, and {asked} was asked for',
  },
  /** A transaction that a plugin's grant does not allow now. */
  BUDGET_SPENT: {
    status: 403,
    retryable: true,
    text: 'Plugin {plugin} has {remaining} {unit} left of {rule} {limit} of relayer {relayer}, and {asked} was asked for; more is free from {free_from}',
  },
  /** The key may see the thing, but may not do this deed to it. */
  NOT_PERMITTED: {
    status: 403,
    retryable: false,
    text: 'The API key has no permission {resource}:{deed}',
    message: 'Forbidden',
  },
  PERMISSION_NOT_HELD: {
    status: 403,
    retryable: false,
    text: 'The API key cannot grant {permission} or take it away: it does not have that itself',
    message: 'Forbidden',
  },
  ORIGIN_NOT_ALLOWED: {
    status: 403,
    retryable: false,
    text: 'The API key may not be used by pages of {origin}',
    message: 'Forbidden',
  },
  PLUGIN_DISABLED: { status: 403, retryable: true, text: 'Plugin {id} is disabled', message: 'Plugin disabled' },
  ROUTE_NOT_FOUND: { status: 404, retryable: false, text: 'No such route: {method} {path}' },
  RELAYER_NOT_FOUND: { status: 404, retryable: false, text: 'Relayer with ID {id} not found' },
  NOTIFICATION_NOT_FOUND: {
    status: 404,
    retryable: false,
    text: "Notification with ID '{id}' not found",
    message: 'Notification not found',
  },
  DELIVERY_NOT_FOUND: { status: 404, retryable: false, text: "Delivery with ID '{id}' not found" },
  API_KEY_NOT_FOUND: { status: 404, retryable: false, text: 'Api key with id {id} not found' },
  SIGNER_NOT_FOUND: { status: 404, retryable: false, text: 'Signer with ID {id} not found' },
  NETWORK_NOT_FOUND: { status: 404, retryable: false, text: "Network with ID '{id}' not found" },
  TRANSACTION_NOT_FOUND: { status: 404, retryable: false, text: 'Transaction with ID {id} not found' },
  NONCE_NOT_FOUND: { status: 404, retryable: false, text: 'Transaction with nonce {nonce} not found' },
  METRIC_NOT_FOUND: { status: 404, retryable: false, text: 'Metric {name} not found' },
  PLUGIN_NOT_FOUND: { status: 404, retryable: false, text: 'Plugin with id {id} not found' },
  CALL_NOT_FOUND: { status: 404, retryable: false, text: 'Call with ID {id} not found' },
  TRIGGER_NOT_FOUND: { status: 404, retryable: false, text: 'Plugin {id} has no trigger {name}' },
  METHOD_NOT_ALLOWED: { status: 405, retryable: false, text: '{method} is not allowed here; allowed: {allowed}' },
  PLUGIN_GET_DISABLED: {
    status: 405,
    retryable: false,
    text: "GET requests are not enabled for this plugin. Set 'allow_get_invocation: true' in plugin configuration to enable.",
  },
  REQUEST_TIMEOUT: { status: 408, retryable: true, text: 'The request did not arrive within {seconds} s' },
  NOTIFICATION_EXISTS: {
    status: 409,
    retryable: false,
    text: "Notification with ID '{id}' already exists",
    message: 'Notification with this ID already exists',
  },
  NOTIFICATION_IN_USE: {
    status: 409,
    retryable: false,
    text: "Cannot delete notification '{id}' because it is being used by {count} relayer(s): {relayers}. Please remove or reconfigure these relayers before deleting the notification.",
    message: 'Notification is in use',
  },
  SIGNER_EXISTS: { status: 409, retryable: false, text: 'Signer with ID {id} already exists' },
  SIGNER_IN_USE: {
    status: 409,
    retryable: false,
    text: "Cannot delete signer '{id}' because it is being used by {count} relayer(s): {relayers}. Please remove or reconfigure these relayers before deleting the signer.",
    message: 'Signer is in use',
  },
  NETWORK_EXISTS: { status: 409, retryable: false, text: "Network with ID '{id}' already exists" },
  NETWORK_IN_USE: {
    status: 409,
    retryable: false,
    text: "Cannot delete network '{id}' because {count} relayer(s) are on it: {relayers}. Please delete these relayers before deleting the network.",
    message: 'Network is in use',
  },
  RELAYER_EXISTS: { status: 409, retryable: false, text: 'Relayer with ID {id} already exists' },
  /** The id of a deleted relayer with another account, whose transactions would be shown under the new relayer. */
  RELAYER_ID_KEPT: {
    status: 409,
    retryable: true,
    text: 'A deleted relayer with another account or network had ID {id}, and its transactions are still kept; choose another ID',
  },
  RELAYER_BUSY: {
    status: 409,
    retryable: true,
    text: "Cannot delete relayer '{id}' because it has {count} transaction(s). Please wait for all transactions to complete or cancel them before deleting the relayer.",
    message: 'Relayer is in use',
  },
  TRIGGER_PAUSED: { status: 409, retryable: true, text: 'Trigger {name} of plugin {id} is paused' },
  IDEMPOTENCY_MISMATCH: {
    status: 409,
    retryable: false,
    text: 'The Idempotency-Key was used for another request; give each request its own key',
  },
  /** A run of a keyed plugin call does something else than the one before it. */
  EFFECT_MISMATCH: {
    status: 409,
    retryable: false,
    text: 'This run of the plugin went another way than the one before it: its call {request} is {asked}, and was {earlier}; nothing was done again',
  },
  /** What a keyed plugin call heard does not fit into its journal, and it can have no further effect. */
  JOURNAL_FULL: {
    status: 500,
    retryable: false,
    text: 'The call has heard more than {limit}, so it can have no further effect',
  },
  /** An effect was begun, and it is not known whether it was done; for instance a call that a node acts on. */
  EFFECT_UNKNOWN: {
    status: 409,
    retryable: false,
    text: 'An effect of this request may have happened, and its outcome is not known; it is not done again',
  },
  IDEMPOTENCY_RUNNING: {
    status: 409,
    retryable: true,
    text: 'The request with this idempotency key is still running; repeat it after Retry-After',
  },
  ANSWER_NOT_KEPT: {
    status: 409,
    retryable: false,
    text: 'The request with this idempotency key was done, and answered with status {status}. That answer is not stored any more, and the request is not done again',
  },
  /** A plugin's fetch has no answer; the text is for its author. */
  FETCH_FAILED: { status: 424, retryable: true, text: '{reason}' },
  PAYLOAD_TOO_LARGE: { status: 413, retryable: false, text: 'The body is larger than {limit} bytes' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, retryable: false, text: 'Send application/json, not {type}' },
  RELAYER_LIMITED: {
    status: 429,
    retryable: true,
    text: 'Relayer {relayer} is rate limited: at most {limit} requests a second, and {burst} at once',
    message: 'Too Many Requests',
  },
  TOO_MANY_REQUESTS: { status: 429, retryable: true, text: 'Too Many Requests' },
  INTERNAL: { status: 500, retryable: false, text: 'Internal Server Error' },
  SIGNER_FAILED: {
    status: 500,
    retryable: true,
    text: 'Signer {id} failed: {reason}',
    message: 'Internal Server Error',
  },
  /** A declared signer that cannot be opened; it stops the start. */
  SIGNER_UNUSABLE: {
    status: 500,
    retryable: false,
    text: 'Signer {id}: {reason}',
    message: 'Internal Server Error',
  },
  PROVIDER_FAILED: {
    status: 500,
    retryable: true,
    text: 'The RPC endpoints of network {network} failed: {reason}',
    message: 'Internal Server Error',
  },
  TRANSACTION_EXISTS: {
    status: 409,
    retryable: false,
    text: 'The same signed bytes were accepted before, as a transaction of another relayer with the same account',
  },
  NOT_SUPPORTED: { status: 501, retryable: false, text: '{what} is not supported for {networkType} relayers' },
  NONCE_LOOKUP_NOT_SUPPORTED: { status: 501, retryable: false, text: 'Nonce lookup only supported for EVM networks' },
  /** For what a later version brings. */
  NOT_AVAILABLE_YET: {
    status: 501,
    retryable: false,
    text: '{what} is not available yet for {networkType} relayers',
  },
  /** A rerun needs the lock that its first run had. It must not go on without that lock. */
  LOCK_HELD_ELSEWHERE: {
    status: 503,
    retryable: true,
    text: 'Lock {name}, which an earlier run of this request had, is held by another call',
  },
  UNAVAILABLE: { status: 503, retryable: true, text: '{reason}' },
  HANDLER_TIMEOUT: { status: 504, retryable: true, text: 'The request was not answered within {seconds} s' },
} as const satisfies Record<string, ErrorRow>;

interface ErrorRow {
  /** HTTP status of the answer. */
  status: number;
  /** Whether the same request may succeed later without being changed. */
  retryable: boolean;
  text: string;
  message?: string;
}

export type ErrorCode = keyof typeof ERRORS;

/** The placeholders of a code's text, each of which must be given. */
export type ErrorDetails<C extends ErrorCode> = Record<Placeholder<(typeof ERRORS)[C]['text']>, string>;

type Placeholder<T extends string> = T extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Placeholder<Rest>
  : never;

interface AppErrorOptions {
  cause?: unknown;
  retryAfterSeconds?: number;
  disabledReason?: DisabledReason;
  hint?: string | undefined;
}

/** An error with a row in {@link ERRORS}; everything else that is thrown is an internal fault. */
export class AppError<C extends ErrorCode = ErrorCode> extends Error {
  readonly code: C;
  readonly details: ErrorDetails<C>;
  /** How many seconds later the same request may be worth another try, where known. */
  readonly retryAfterSeconds: number | undefined;
  /** For a disabled relayer: what its checks found, and when they look again. */
  readonly disabledReason: DisabledReason | undefined;
  /** A sentence that follows the message in answers. Clients that compare the message are not disturbed by it. */
  readonly hint: string | undefined;

  constructor(code: C, details: ErrorDetails<C>, options?: AppErrorOptions) {
    const row: ErrorRow = ERRORS[code];
    const given: Record<string, string> = details;
    super(
      row.text.replace(/\{(\w+)\}/g, (_, name: string) => given[name] ?? name),
      options,
    );
    this.name = 'AppError';
    this.code = code;
    this.details = details;
    this.retryAfterSeconds = options?.retryAfterSeconds;
    this.disabledReason = options?.disabledReason;
    this.hint = options?.hint;
  }

  get status(): number {
    return ERRORS[this.code].status;
  }

  get retryable(): boolean {
    return ERRORS[this.code].retryable;
  }

  /** The message, with the hint. */
  get explained(): string {
    return this.hint === undefined ? this.message : `${this.message}. ${this.hint}`;
  }

  /** The text that clients of the seed's interface compare; the specific reason is `this.message`. */
  get publicMessage(): string {
    const row: ErrorRow = ERRORS[this.code];
    return row.message ?? this.message;
  }
}

/** The database does not answer, or cannot be written. Whether what was being written is kept may be unknown. */
export class StoreUnavailable extends AppError<'UNAVAILABLE'> {
  constructor(reason: string, cause?: unknown) {
    super('UNAVAILABLE', { reason }, { cause });
    this.name = 'StoreUnavailable';
  }
}

/** A 400 with its reason, the most frequent error. */
export function invalidRequest(reason: string, cause?: unknown): AppError<'INVALID_REQUEST'> {
  return new AppError('INVALID_REQUEST', { reason }, { cause });
}

/** The message of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
