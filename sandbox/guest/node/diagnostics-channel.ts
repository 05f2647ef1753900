import { checkFunction, wrongType } from './node-error.ts';

type Name = string | symbol;
type Subscriber = (message: unknown, name: Name) => void;

let changed = (): void => undefined;

/**
 * Sets the function to call when subscribers are added or removed. Subscribers outlive the call that they belong to.
 */
export function watchSubscribers(tell: () => void): void {
  changed = tell;
}

/** A channel for messages to its subscribers (https://nodejs.org/api/diagnostics_channel.html). */
class Channel {
  readonly name: Name;
  #subscribers: Subscriber[] = [];

  constructor(name: Name) {
    this.name = name;
  }

  get hasSubscribers(): boolean {
    return this.#subscribers.length > 0;
  }

  subscribe(subscriber: unknown): void {
    checkFunction(subscriber, 'subscription');
    changed();
    this.#subscribers = [...this.#subscribers, subscriber];
  }

  unsubscribe(subscriber: unknown): boolean {
    const left = this.#subscribers.filter((one) => one !== subscriber);
    const found = left.length < this.#subscribers.length;
    if (found) changed();
    this.#subscribers = left;
    return found;
  }

  publish(message: unknown): void {
    for (const subscriber of this.#subscribers) subscriber(message, this.name);
  }

  bindStore(): void {}

  unbindStore(): boolean {
    return false;
  }

  runStores<T>(message: unknown, run: (...args: unknown[]) => T, self?: unknown, ...args: unknown[]): T {
    this.publish(message);
    return Reflect.apply(run, self, args);
  }
}

const channels = new Map<Name, Channel>();

function channel(name: unknown): Channel {
  if (typeof name !== 'string' && typeof name !== 'symbol')
    throw wrongType('channel', 'one of type string or symbol', name);
  // A name always gives the same channel.
  const known = channels.get(name) ?? new Channel(name);
  Object.freeze(known);
  channels.set(name, known);
  return known;
}

const STAGES = ['start', 'end', 'asyncStart', 'asyncEnd', 'error'] as const;
type Stages = Record<(typeof STAGES)[number], Channel>;

function tracingChannel(given: unknown) {
  const stages = Object.fromEntries(
    STAGES.map((stage) => [
      stage,
      typeof given === 'string' ? channel(`tracing:${given}:${stage}`) : (given as Stages)[stage],
    ]),
  ) as Stages;
  const each = (act: (stage: keyof Stages) => void) => {
    for (const stage of STAGES) act(stage);
  };
  const { start, end, asyncStart, asyncEnd, error } = stages;
  type Traced = (...args: unknown[]) => unknown;
  type Context = { error?: unknown; result?: unknown };
  const traceSync = (run: Traced, context: Context = {}, self?: unknown, ...args: unknown[]) => {
    start.publish(context);
    try {
      const result = Reflect.apply(run, self, args);
      context.result = result;
      return result;
    } catch (thrown) {
      context.error = thrown;
      error.publish(context);
      throw thrown;
    } finally {
      end.publish(context);
    }
  };
  return {
    ...stages,
    get hasSubscribers(): boolean {
      return STAGES.some((stage) => stages[stage].hasSubscribers);
    },
    subscribe: (handlers: Record<string, unknown>) =>
      each((stage) => handlers[stage] !== undefined && stages[stage].subscribe(handlers[stage])),
    unsubscribe: (handlers: Record<string, unknown>) => {
      each((stage) => handlers[stage] !== undefined && stages[stage].unsubscribe(handlers[stage]));
      return true;
    },
    traceSync,
    async tracePromise(run: Traced, context: Context = {}, self?: unknown, ...args: unknown[]) {
      try {
        const result = await traceSync(run, context, self, ...args);
        context.result = result;
        return result;
      } finally {
        asyncStart.publish(context);
        asyncEnd.publish(context);
      }
    },
    traceCallback: (run: Traced, _position = -1, context: Context = {}, self?: unknown, ...args: unknown[]) =>
      traceSync(run, context, self, ...args),
  };
}

/** Node's module `diagnostics_channel`. */
export const diagnosticsChannel = {
  channel,
  Channel,
  tracingChannel,
  hasSubscribers: (name: Name) => channels.get(name)?.hasSubscribers ?? false,
  subscribe: (name: Name, subscriber: unknown) => channel(name).subscribe(subscriber),
  unsubscribe: (name: Name, subscriber: unknown) => channel(name).unsubscribe(subscriber),
};
