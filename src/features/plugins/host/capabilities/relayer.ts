import { z } from 'zod';
import type { Json, WireObject } from '../../../../domain/json/json.ts';
import { rpcMayAct, rpcRights } from '../../../relayers/rpc.ts';
import type { Services } from '../../../services.ts';
import type { RelayerGrant } from '../../records/plugin.ts';
import { type Capability, defineCapability, json, type ResultSchema } from './capability.ts';
import { type PayloadPrefix, relayerFailure, WaitTimeout } from './relayer-failure.ts';

/** Long enough for every id. The services decide which ids exist. */
const id = z.string().min(1).max(256);
const milliseconds = z.number().nonnegative().exactOptional();
const ofRelayer = z.strictObject({ relayerId: id });

/** The reference's defaults of `wait`. */
const WAIT_INTERVAL_MS = 5000;
const WAIT_TIMEOUT_MS = 60_000;

type ParamsSchema = z.ZodType<{ relayerId: string; request?: Json }>;
type RelayerCapability<P extends ParamsSchema, R extends ResultSchema, N extends keyof Services> = Pick<
  Capability<P, R, N>,
  'about' | 'signature' | 'needs' | 'params' | 'result' | 'handle'
> &
  Partial<Pick<Capability<P, R, N>, 'grant' | 'effect' | 'trace'>> & {
    /** What the plugin may do by it: `read`, unless it says more. */
    right?: RelayerGrant;
    refusedAs?: PayloadPrefix;
  };

/** A capability of `api.useRelayer(id)`. What only reads is in `metadata.traces` with its parameters, and no effect. */
function capability<P extends ParamsSchema, R extends ResultSchema, N extends keyof Services>(
  method: string,
  { right = 'read', refusedAs = 'Invalid payload: ', ...declared }: RelayerCapability<P, R, N>,
) {
  return defineCapability<P, R, N>({
    grant: ({ relayerId }) => ({ relayer: relayerId, right }),
    effect: () => right !== 'read',
    trace: { method, payload: sent },
    ...declared,
    method: `relayer.${method}`,
    failure: (error) => relayerFailure(error, refusedAs),
  });
}

/** What a trace shows of the parameters. */
function sent({ relayerId: _, request, ...others }: { relayerId: string; request?: Json }): Json {
  return request === undefined ? others : request;
}

/** What plugins can ask of a relayer. */
export const relayerCapabilities = [
  capability('sendTransaction', {
    about:
      'Sends a transaction. `request` has the fields of `POST /relayers/{id}/transactions`. Resolves when the service has accepted the transaction, before it is on the chain. Rejects if the request is invalid or refused.',
    signature: 'sendTransaction(request: object): Promise<SentTransaction>',
    needs: ['transactions'],
    params: ofRelayer.extend({ request: json('object') }),
    result: json<WireObject>('TransactionResponse'),
    right: 'send',
    refusedAs: 'Relayer error: Bad Request: ',
    handle: ({ transactions }, { relayerId, request }, principal) =>
      transactions.send(relayerId, request, {
        effect: principal.effect,
        spender: principal.spender(relayerId),
        actor: principal.actor,
      }),
  }),

  capability('getTransaction', {
    about: 'Returns the transaction in its current state. Rejects if the relayer has no such transaction.',
    signature: 'getTransaction(query: { transactionId: string }): Promise<TransactionResponse>',
    needs: ['transactions'],
    params: ofRelayer.extend({ transactionId: id }),
    result: json<WireObject>('TransactionResponse'),
    handle: async ({ transactions }, { relayerId, transactionId }) => transactions.get(relayerId, transactionId),
  }),

  /** Resolves with the transaction once it is mined, or with `until: 'confirmed'` confirmed, or once it has ended. */
  capability('waitTransaction', {
    needs: ['transactions'],
    params: ofRelayer.extend({
      transactionId: id,
      interval: milliseconds,
      timeout: milliseconds,
      until: z.enum(['mined', 'confirmed']).exactOptional(),
    }),
    result: json<WireObject>('TransactionResponse'),
    trace: {
      method: 'transactionWait',
      payload: ({ transactionId, interval = WAIT_INTERVAL_MS, timeout = WAIT_TIMEOUT_MS, until }) => ({
        transactionId,
        interval,
        timeout,
        ...(until !== undefined && { until }),
      }),
    },
    async handle({ transactions }, params, principal) {
      const { relayerId, transactionId, interval = WAIT_INTERVAL_MS, timeout = WAIT_TIMEOUT_MS, until } = params;
      const isFinal = until === 'confirmed';
      const leftMs = principal.waits(
        { kind: 'transaction', id: transactionId, relayerId, isFinal },
        Math.ceil(timeout),
      );
      const timing = { intervalMs: interval, timeoutMs: leftMs, isFinal };
      const transaction = await transactions.wait(relayerId, transactionId, timing, principal.signal);
      if (transaction === undefined) throw new WaitTimeout(`Transaction ${transactionId} timed out after ${timeout}ms`);
      return transaction;
    },
  }),

  capability('getRelayer', {
    about: "Returns the relayer's settings.",
    needs: ['relayers'],
    params: ofRelayer,
    result: json<WireObject>('RelayerInfo'),
    handle: async ({ relayers }, { relayerId }) => relayers.get(relayerId),
  }),

  capability('getRelayerStatus', {
    about: "Returns the relayer's balance and pending transactions.",
    needs: ['relayers'],
    params: ofRelayer,
    result: json<WireObject>('RelayerStatus'),
    handle: ({ relayers }, { relayerId }) => relayers.status(relayerId),
  }),

  capability('signTransaction', {
    about:
      'Signs a transaction without sending it. Resolves with `{ signedXdr, signature }` on Stellar, and with `{ transaction, signature }` on Solana.',
    needs: ['signing'],
    params: ofRelayer.extend({ request: json('unknown') }),
    result: json<WireObject>('any'),
    right: 'sign',
    handle: ({ signing }, { relayerId, request }, principal) =>
      signing.signTransaction(relayerId, request, {
        effect: principal.effect,
        actor: principal.actor,
        maySpend: principal.maySend(relayerId),
      }),
  }),

  capability('rpc', {
    about: "Sends a JSON-RPC request to a node. Also resolves when the node's answer is an error; check `error`.",
    needs: ['rpc'],
    params: ofRelayer.extend({ request: json('JsonRpcRequest') }),
    result: json<WireObject>('JsonRpcResponse'),
    refusedAs: 'Invalid payload: Bad Request: ',
    grant: ({ relayerId, request }) => {
      const [right = 'rpc', ...also] = rpcRights(request);
      const acts = right === 'rpc' && { acts: rpcMayAct(request) };
      return { relayer: relayerId, right, ...acts, ...(also.length > 0 && { also }) };
    },
    effect: ({ request }) => rpcMayAct(request),
    handle: async ({ rpc: service }, { relayerId, request }, principal) => {
      const { effect, actor } = principal;
      const by = { effect, actor, spender: principal.spender(relayerId), maySpend: principal.maySend(relayerId) };
      return { ...(await service.call(relayerId, request, by)) };
    },
  }),
];
