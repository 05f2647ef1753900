import type { AppError } from '../domain/errors.ts';
import type { Json, JsonObject, WireObject } from '../domain/json/json.ts';
import type { WebhookEventName } from '../domain/webhook-event.ts';
import type { Signer } from '../signers/signer.ts';
import type { Account } from './account.ts';

/**
 * A JSON-RPC method that a family answers itself instead of a node. Every method throws `INVALID_REQUEST` for malformed
 * parameters, and {@link OwnRefusal} for a refusal that the answer shows to the caller.
 */
export type OwnMethod =
  /** Only answers: it signs and sends nothing. */
  | { kind: 'answer'; run(params: Json, account: Account): Promise<WireObject> }
  /** Returns signed bytes. Anyone who has them can send them. */
  | { kind: 'sign'; event?: WebhookEventName; run(params: Json, account: Account, signer: Signer): Promise<WireObject> }
  | SendingMethod;

/** Sends as the send endpoint does, and answers once there is a signature. */
export interface SendingMethod {
  kind: 'send';
  /** The webhook event for the method's answer, as for a method that signs. Absent: no event. */
  event?: WebhookEventName;
  /** The body of the send request. */
  body(params: Json): JsonObject;
  /** Refuses at once what the lane would refuse, before anything is accepted. */
  check(body: JsonObject, account: Account): Promise<void>;
  /** Makes the answer from the transaction's view, once the transaction has a signature or has ended. */
  answer(view: WireObject): WireObject;
  /**
   * Turns a refusal of the request into the error of the answer. Undefined for an error that does not concern the
   * caller.
   */
  refusal(error: AppError): OwnRefusal | undefined;
}

/** The refusal that a method answers instead of a result. */
export class OwnRefusal extends Error {
  readonly code: number;
  /** The `message` of the JSON-RPC error. The text of this error is the `description`. */
  readonly tag: string;

  constructor(code: number, tag: string, description: string, cause?: unknown) {
    super(description, { cause });
    this.name = 'OwnRefusal';
    this.code = code;
    this.tag = tag;
  }
}
