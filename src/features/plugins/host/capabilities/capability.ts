import { z } from 'zod';
import type { AppError } from '../../../../domain/errors.ts';
import type { KeyedEffect } from '../../../../domain/idempotency.ts';
import type { Json, WireValue } from '../../../../domain/json/json.ts';
import type { FetchGrants } from '../../../../egress/fetch/plugin-fetch.ts';
import type { Actor } from '../../../api-keys/records/caller.ts';
import type { Services } from '../../../services.ts';
import type { KvCaller } from '../../records/kv.ts';
import type { SpendingPlugin } from '../../records/spending.ts';
import type { CallInbox } from '../call-inbox.ts';
import type { RequiredGrant } from './grants.ts';
import type { HeldLocks } from './held-locks.ts';

/** What a capability call waits for. */
export type WaitReason =
  | { kind: 'time' }
  | { kind: 'event'; name: string }
  | { kind: 'transaction'; id: string; relayerId: string; isFinal: boolean };

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
  /** The events that the call is sent; undefined unless the call is durable. */
  readonly inbox: CallInbox | undefined;
  /**
   * Notes that the capability call does nothing but wait from now on, for so many milliseconds at most.
   * @returns how many of them are left: an earlier run of the call may have begun to wait
   */
  waits(on: WaitReason, ms: number): number;
  /** The limits for what the plugin sends through a relayer; undefined when there are none. */
  spender(relayerId: string): SpendingPlugin | undefined;
  /** Whether the plugin may send through a relayer: then what it has signed may spend what the relayer holds. */
  maySend(relayerId: string): boolean;
}

/** How a call of a relayer shows in `metadata.traces`: the public SDK's method name, and what was sent. */
interface TraceShape<P> {
  method: string;
  payload(params: P): Json;
}

/** What crosses to the guest. The type is for authors and for the code of the guest; results are not parsed. */
export type ResultSchema = z.ZodType<WireValue, WireValue>;

/**
 * One operation that a plugin can ask for. A capability states what it needs and makes one service call. The gateway
 * checks grants, counts, limits sizes, traces and maps errors. `npm run client` makes of it what the guest sends, the
 * function that plugins call, and the author's type of that function.
 */
export interface Capability<P extends z.ZodType, R extends ResultSchema, N extends keyof Services = never> {
  /** The namespace and the name of the function. */
  method: string;
  /** What authors read about the function. Absent: only code of the guest asks for it. */
  about?: string;
  /**
   * The function in the author's type, when it has code of its own in the guest. Absent: the function takes the
   * parameters in order, and resolves with the result.
   */
  signature?: string;
  /** The only services that `handle` receives. */
  needs: readonly N[];
  params: P;
  result: R;
  grant(params: z.output<P>): RequiredGrant;
  /** Whether the call may change something outside: after an effect a plugin call is neither rerun nor canceled. */
  effect(params: z.output<P>): boolean;
  /** The value that tells this effect from others. Absent: all of the parameters. */
  payload?(params: z.output<P>): unknown;
  trace?: TraceShape<z.output<P>>;
  handle(services: Pick<Services, N>, params: z.output<P>, principal: Principal): Promise<z.input<R>>;
  /** The text that the plugin's `catch` sees for an error of the service's table. */
  failure(error: AppError): string;
}

/** A capability of any parameters. */
export interface DeclaredCapability
  extends Pick<Capability<z.ZodType, ResultSchema>, 'method' | 'about' | 'signature' | 'params' | 'result'> {
  bind(services: Services): BoundCapability;
}

/** A capability bound to its services, for the gateway. It gets the guest's parameters unparsed. */
export interface BoundCapability {
  method: string;
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

/**
 * Any JSON value, by the name that its type has for authors. Not checked: the sandbox parsed the value from JSON
 * text. Checking a megabyte again would hold up the event loop.
 */
export const json = <T extends WireValue = Json>(typeText: string) =>
  z.custom<T>((value) => value !== undefined, 'missing').meta({ typeText });

/** Makes a capability that the gateway can bind, so that a handler can only touch the services it names. */
export function defineCapability<P extends z.ZodType, R extends ResultSchema, N extends keyof Services>(
  capability: Capability<P, R, N>,
): DeclaredCapability {
  return {
    ...capability,
    bind(services) {
      const given = Object.fromEntries(capability.needs.map((need) => [need, services[need]])) as Pick<Services, N>;
      const { trace } = capability;
      return {
        method: capability.method,
        traceMethod: trace?.method,
        failure: (error) => capability.failure(error),
        prepare(raw) {
          const params = capability.params.parse(raw);
          const need = capability.grant(params);
          return {
            need,
            effect: capability.effect(params),
            payload: () => (capability.payload === undefined ? raw : capability.payload(params)),
            trace:
              trace !== undefined && 'relayer' in need
                ? { method: trace.method, relayerId: need.relayer, payload: trace.payload(params) }
                : undefined,
            run: (principal) => capability.handle(given, params, principal),
          };
        },
      };
    },
  };
}
