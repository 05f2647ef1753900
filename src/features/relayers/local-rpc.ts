import {
  type LocalRpcMethod,
  type LocalSendMethod,
  OwnRefusal,
  type RelayerAccount,
} from '../../chains/chain-client.ts';
import { readClientCall } from '../../chains/pass-through.ts';
import { AppError } from '../../domain/errors.ts';
import type { Json, JsonObject, WireObject, WireValue } from '../../domain/json/json.ts';
import type { RpcOutcome } from '../../egress/rpc/rpc-client.ts';
import type { Outbox } from '../../engine/webhooks/outbox.ts';
import type { Signer } from '../../signers/signer.ts';
import type { Store } from '../../store/store.ts';
import { auditSignature } from '../audit/audit-records.ts';
import { earlierEffect } from '../recorded-effects.ts';
import type { CallTerms, LifecycleService, TransactionsService } from '../services.ts';
import type { SignatureWait } from '../transactions/transactions.ts';
import type { WebhookEventName } from '../webhooks/records/webhook-event.ts';
import type { Relayer } from './records/relayer.ts';
import type { RelayerAccess, RelayerDirectory } from './relayer-access.ts';

/** How long a caller waits for the lane to sign. It is less than the time limit of any answer. */
const SIGNING_MS = 15_000;

export interface LocalRpcDeps {
  store: Pick<Store, 'read' | 'write'>;
  /** Takes the webhook events about answers. */
  outbox: Pick<Outbox, 'answered' | 'committed'>;
  relayers: RelayerDirectory;
  signerOf(relayer: Relayer): Promise<Signer>;
  transactions: Pick<TransactionsService, 'get' | 'send'> & SignatureWait;
  lifecycle: Pick<LifecycleService, 'cancel'>;
  /** In milliseconds; {@link SIGNING_MS} unless given. */
  signingMs?: number;
}

interface Call {
  method: string;
  params: Json;
}

/** Runs one of a family's own methods. A refusal is part of the outcome, like a node's refusal. */
export type RunLocalRpc = (
  relayerId: string,
  body: unknown,
  method: LocalRpcMethod,
  by: CallTerms,
) => Promise<RpcOutcome>;

/** Runs calls that are not passed on to a node. The family answers them, with the relayer's signer if needed. */
export function createLocalRpc(deps: LocalRpcDeps): RunLocalRpc {
  const { store, outbox, relayers, signerOf, transactions, lifecycle, signingMs = SIGNING_MS } = deps;
  const { read } = store;

  async function resultOf(
    access: RelayerAccess,
    method: LocalRpcMethod,
    call: Call,
    by: CallTerms,
  ): Promise<WireObject> {
    const { relayer } = access;
    const { params } = call;
    const account = { ...(await relayers.signingAccount(access)), maySpend: by.maySpend };
    switch (method.kind) {
      case 'answer':
        return method.run(params, account);
      case 'sign':
        return auditAnswer(relayer, method.event, await method.run(params, account, await signerOf(relayer)), call, by);
      case 'send':
        return send(relayer, method, params, account, by);
      default:
        throw new Error(`Unknown method ${JSON.stringify(method satisfies never)}`);
    }
  }

  /** Stores the webhook event about an answer before the answer with signed bytes is returned. */
  async function storeAnswerEvent(
    relayer: Relayer,
    event: WebhookEventName | undefined,
    answer: WireObject,
  ): Promise<WireObject> {
    if (event === undefined || relayer.notificationId === null) return answer;
    await store.write((writer) => outbox.answered(writer, relayer, event, answer));
    outbox.committed();
    return answer;
  }

  /** Does the same, and stores the audit record of the signature in the same commit. */
  async function auditAnswer(
    relayer: Relayer,
    event: WebhookEventName | undefined,
    answer: WireObject,
    { method, params }: Call,
    { actor }: CallTerms,
  ): Promise<WireObject> {
    const isTold = event !== undefined && relayer.notificationId !== null;
    await store.write(async (writer) => {
      await auditSignature(writer, actor, { relayerId: relayer.id, what: 'rpc', request: { method, params } });
      if (isTold) await outbox.answered(writer, relayer, event, answer);
    });
    if (isTold) outbox.committed();
    return answer;
  }

  async function send(
    relayer: Relayer,
    method: LocalSendMethod,
    params: Json,
    account: RelayerAccount,
    { effect, spender, actor }: CallTerms,
  ): Promise<WireObject> {
    const { id: relayerId } = relayer;
    const body = method.body(params);
    try {
      // A transaction that was accepted before must not be refused now.
      const isNew = (await earlierEffect(read, effect)) === undefined && !(await transactions.isKnown(relayerId, body));
      if (isNew) await method.check(body, account);
      const answer = method.answer(await signed(relayerId, body, { effect, spender, actor }));
      return isNew ? await storeAnswerEvent(relayer, method.event, answer) : answer;
    } catch (error) {
      throw (error instanceof AppError ? method.refusal(error) : undefined) ?? error;
    }
  }

  /**
   * Sends and waits for the signature. Without one in time it cancels the transaction.
   * @throws AppError `UNAVAILABLE` when it canceled the transaction
   */
  async function signed(relayerId: string, body: JsonObject, by: CallTerms): Promise<WireObject> {
    const id = textOf((await transactions.send(relayerId, body, by))['id']);
    const view = await transactions.untilSigned(relayerId, id, signingMs);
    if (view !== undefined) return view;
    const why = textOf((await transactions.get(relayerId, id))['status_reason']) || 'its turn did not come';
    await lifecycle.cancel(relayerId, id);
    throw new AppError('UNAVAILABLE', {
      reason: `Transaction ${id} was withdrawn before it was signed: ${why}`,
    });
  }

  return async (relayerId, body, method, by) => {
    const access = await relayers.findActive(relayerId);
    const { method: name, params, id } = readClientCall(body);
    const echo = id === null ? {} : { id };
    try {
      const result = await resultOf(access, method, { method: name, params }, by);
      return { jsonrpc: '2.0', result: { method: name, ...result }, ...echo };
    } catch (error) {
      if (!(error instanceof OwnRefusal)) throw error;
      const { code, tag: message, message: description } = error;
      return { jsonrpc: '2.0', error: { code, message, description }, ...echo };
    }
  };
}

function textOf(value: WireValue): string {
  return typeof value === 'string' ? value : '';
}
