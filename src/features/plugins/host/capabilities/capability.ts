import type { z } from 'zod';
import type { CapabilityContract, CapabilityMethod } from '../../../../../sandbox/capability-contract.ts';
import type { AppError } from '../../../../domain/errors.ts';
import type { KeyedEffect } from '../../../../domain/idempotency.ts';
import type { Json, WireValue } from '../../../../domain/json/json.ts';
import type { FetchGrants } from '../../../../egress/fetch/plugin-fetch.ts';
import type { Actor } from '../../../api-keys/records/caller.ts';
import type { Services } from '../../../services.ts';
import type { KvCaller } from '../../records/kv.ts';
import type { PluginSpender } from '../../records/spending.ts';
import type { RequiredGrant } from './grants.ts';
import type { HeldLocks } from './held-locks.ts';

/** On whose behalf a capability runs. */
export interface Principal {
  readonly pluginId: string;
  /** Who called the plugin, for audit records. */
  readonly actor: Actor;
  /** Aborted when the plugin call ends. */
  readonly signal: AbortSignal;
  /** The name of this capability call's effect, when it has one and the plugin call has an idempotency key. */
  readonly effect?: KeyedEffect | undefined;
  /** The identity under which the call changes the plugin's values. */
  readonly kvCaller: KvCaller;
  readonly locks: HeldLocks;
  /** The longest that one plugin call lasts, in milliseconds. */
  readonly timeoutMs: number;
  /** The hosts from which the plugin may fetch. */
  readonly hosts: FetchGrants;
  /** The limits for what the plugin sends through a relayer; undefined when there are none. */
  spender(relayerId: string): PluginSpender | undefined;
  /** Whether the plugin may send through a relayer: then what it has signed may spend what the relayer holds. */
  maySend(relayerId: string): boolean;
}

type Params<M extends CapabilityMethod> = CapabilityContract[M]['params'];

/** How a call of a relayer shows in `metadata.traces`: the public SDK's method name, and what was sent. */
export interface TraceShape<P> {
  method: string;
  relayerId(params: P): string;
  payload(params: P): Json;
}

/**
 * One operation that a plugin can ask for. A capability states what it needs and makes one service call. The gateway
 * checks grants, counts, limits sizes, traces and maps errors.
 */
export interface Capability<M extends CapabilityMethod, N extends keyof Services = never> {
  method: M;
  /** The only services that `handle` receives. */
  needs: readonly N[];
  params: z.ZodType<Params<M>>;
  grant(params: Params<M>): RequiredGrant;
  /** Whether the call may change something outside: after an effect a plugin call is neither rerun nor canceled. */
  effect(params: Params<M>): boolean;
  /** The value that tells this effect from others. Absent: all of the parameters. */
  payload?(params: Params<M>): unknown;
  trace?: TraceShape<Params<M>>;
  handle(services: Pick<Services, N>, params: Params<M>, principal: Principal): Promise<WireValue>;
  /** The text that the plugin's `catch` sees for an error of the service's table. */
  failure(error: AppError): string;
}

/** A capability bound to its services, for the gateway. It gets the guest's parameters unparsed. */
export interface BoundCapability<M extends CapabilityMethod = CapabilityMethod> {
  method: M;
  /** The public SDK's method name, for a call of a relayer. */
  traceMethod: string | undefined;
  /** @throws z.ZodError when the parameters are not the contract's */
  prepare(params: unknown): PreparedCapabilityCall;
  failure(error: AppError): string;
}

/** One parsed capability call. */
export interface PreparedCapabilityCall {
  need: RequiredGrant;
  effect: boolean;
  /** The value that tells this effect from others. It is the same in each run of a request with an idempotency key. */
  payload(): unknown;
  trace: { method: string; relayerId: string; payload: Json } | undefined;
  run(principal: Principal): Promise<WireValue>;
}

/** Makes a capability that the gateway can bind, so that a handler can only touch the services it names. */
export function defineCapability<M extends CapabilityMethod, N extends keyof Services>(
  capability: Capability<M, N>,
): (services: Services) => BoundCapability<M> {
  return (services) => {
    const given = Object.fromEntries(capability.needs.map((need) => [need, services[need]])) as Pick<Services, N>;
    const { trace } = capability;
    return {
      method: capability.method,
      traceMethod: trace?.method,
      failure: (error) => capability.failure(error),
      prepare(raw) {
        const params = capability.params.parse(raw);
        return {
          need: capability.grant(params),
          effect: capability.effect(params),
          payload: () => (capability.payload === undefined ? raw : capability.payload(params)),
          trace: trace && { method: trace.method, relayerId: trace.relayerId(params), payload: trace.payload(params) },
          run: (principal) => capability.handle(given, params, principal),
        };
      },
    };
  };
}
