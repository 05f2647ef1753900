import type { AppError } from '../domain/errors.ts';
import type { Json, JsonObject, WireObject } from '../domain/json/json.ts';
import type { WebhookEventName } from '../domain/webhook-event.ts';
import type { Signer } from '../signers/signer.ts';
import type { Account } from './account.ts';

/**
 * A JSON-RPC method that a family answers itself, in the place of a node. All throw `INVALID_REQUEST` for parameters of
 * another form, and {@link OwnRefusal} for what the caller is told in the answer.
 */
export type OwnMethod =
  /** Only tells something. */
  | { kind: 'answer'; run(params: Json, account: Account): Promise<WireObject> }
  /** Gives signed bytes away, which whoever has them can send. */
  | { kind: 'sign'; event?: WebhookEventName; run(params: Json, account: Account, signer: Signer): Promise<WireObject> }
  | SendingMethod;

/** Sends, as the endpoint for that does, and answers once there is a signature. */
export interface SendingMethod {
  kind: 'send';
  /** What webhooks are told of its answer, as of that of a method that signs; absent: nothing. */
  event?: WebhookEventName;
  /** The body of the send request. */
  body(params: Json): JsonObject;
  /** Refuses at once what the lane would refuse, before anything is accepted. */
  check(body: JsonObject, account: Account): Promise<void>;
  /** Of the transaction's view, once it has a signature or has ended. */
  answer(view: WireObject): WireObject;
  /** What a refusal to accept it is in an answer. Absent for what is none of the caller's business. */
  refusal(error: AppError): OwnRefusal | undefined;
}

/** What a method answers in the place of a result. */
export class OwnRefusal extends Error {
  readonly code: number;
  /** Stands where JSON-RPC has its message; the text of this error is the description. */
  readonly tag: string;

  constructor(code: number, tag: string, description: string, cause?: unknown) {
    super(description, { cause });
    this.name = 'OwnRefusal';
    this.code = code;
    this.tag = tag;
  }
}
