import { z } from 'zod';
import type { AppError } from '../../../../domain/errors.ts';
import type { Json } from '../../../../domain/json/json.ts';
import { rpcMayAct, rpcRights } from '../../../relayers/rpc.ts';
import type { RelayerGrant } from '../../records/plugin.ts';
import { defineCapability } from './capability.ts';
import { type PayloadPrefix, relayerFailure, WaitTimeout } from './relayer-failure.ts';

/** Long enough for every id. The services decide which ids exist. */
const name = z.string().min(1).max(256);
/**
 * Not checked: a driver thread parsed the value from JSON text. Checking a megabyte again would hold up the event loop.
 */
const json = z.custom<Json>((value) => value !== undefined, 'missing');

const ofRelayer = z.strictObject({ relayerId: name });
const withRequest = z.strictObject({ relayerId: name, request: json });
const milliseconds = z.number().nonnegative().exactOptional();

/** The reference's defaults of `wait`. */
const WAIT_INTERVAL_MS = 5000;
const WAIT_TIMEOUT_MS = 60_000;

const to = (right: RelayerGrant) => (params: { relayerId: string }) => ({ relayer: params.relayerId, right });
const failure = (prefix: PayloadPrefix) => (error: AppError) => relayerFailure(error, prefix);
const never = () => false;
const always = () => true;

const traced = <P extends { relayerId: string }>(method: string, payload: (params: P) => Json) => ({
  method,
  relayerId: (params: P) => params.relayerId,
  payload,
});

export const sendTransaction = defineCapability({
  method: 'relayer.sendTransaction',
  needs: ['transactions'],
  params: withRequest,
  grant: to('send'),
  effect: always,
  trace: traced('sendTransaction', ({ request }) => request),
  handle: ({ transactions }, { relayerId, request }, principal) =>
    transactions.send(relayerId, request, {
      effect: principal.effect,
      spender: principal.spender(relayerId),
      actor: principal.actor,
    }),
  failure: failure('Relayer error: Bad Request: '),
});

export const getTransaction = defineCapability({
  method: 'relayer.getTransaction',
  needs: ['transactions'],
  params: z.strictObject({ relayerId: name, transactionId: name }),
  grant: to('read'),
  effect: never,
  trace: traced('getTransaction', ({ transactionId }) => ({ transactionId })),
  handle: ({ transactions }, { relayerId, transactionId }) => transactions.get(relayerId, transactionId),
  failure: failure('Invalid payload: '),
});

export const waitTransaction = defineCapability({
  method: 'relayer.waitTransaction',
  needs: ['transactions'],
  params: z.strictObject({
    relayerId: name,
    transactionId: name,
    interval: milliseconds,
    timeout: milliseconds,
  }),
  grant: to('read'),
  effect: never,
  trace: traced('transactionWait', ({ transactionId, interval = WAIT_INTERVAL_MS, timeout = WAIT_TIMEOUT_MS }) => ({
    transactionId,
    interval,
    timeout,
  })),
  async handle({ transactions }, params, { signal }) {
    const { relayerId, transactionId, interval = WAIT_INTERVAL_MS, timeout = WAIT_TIMEOUT_MS } = params;
    const timing = { intervalMs: interval, timeoutMs: timeout };
    const transaction = await transactions.wait(relayerId, transactionId, timing, signal);
    if (transaction === undefined) throw new WaitTimeout(transactionId, timeout);
    return transaction;
  },
  failure: failure('Invalid payload: '),
});

export const getRelayer = defineCapability({
  method: 'relayer.getRelayer',
  needs: ['relayers'],
  params: ofRelayer,
  grant: to('read'),
  effect: never,
  trace: traced('getRelayer', () => ({})),
  handle: ({ relayers }, { relayerId }) => relayers.get(relayerId),
  failure: failure('Invalid payload: '),
});

export const getRelayerStatus = defineCapability({
  method: 'relayer.getRelayerStatus',
  needs: ['relayers'],
  params: ofRelayer,
  grant: to('read'),
  effect: never,
  trace: traced('getRelayerStatus', () => ({})),
  handle: ({ relayers }, { relayerId }) => relayers.status(relayerId),
  failure: failure('Invalid payload: '),
});

export const signTransaction = defineCapability({
  method: 'relayer.signTransaction',
  needs: ['signing'],
  params: withRequest,
  grant: to('sign'),
  effect: always,
  trace: traced('signTransaction', ({ request }) => request),
  handle: ({ signing }, { relayerId, request }, principal) =>
    signing.signTransaction(relayerId, request, {
      effect: principal.effect,
      actor: principal.actor,
      maySpend: principal.maySend(relayerId),
    }),
  failure: failure('Invalid payload: '),
});

export const rpc = defineCapability({
  method: 'relayer.rpc',
  needs: ['rpc'],
  params: withRequest,
  grant: ({ relayerId, request }) => {
    const [right = 'rpc', ...also] = rpcRights(request);
    const acts = right === 'rpc' && { acts: rpcMayAct(request) };
    return { relayer: relayerId, right, ...acts, ...(also.length > 0 && { also }) };
  },
  effect: ({ request }) => rpcMayAct(request),
  trace: traced('rpc', ({ request }) => request),
  handle: async ({ rpc: service }, { relayerId, request }, principal) => {
    const { effect, actor } = principal;
    const by = { effect, actor, spender: principal.spender(relayerId), maySpend: principal.maySend(relayerId) };
    return { ...(await service.call(relayerId, request, by)) };
  },
  failure: failure('Invalid payload: Bad Request: '),
});
