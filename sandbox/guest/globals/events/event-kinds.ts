import { conformToWebIdl, tooFewArguments } from '../web-idl.ts';
import type { EventClasses, EventSettings } from './event-target.ts';

type Settings = EventSettings & Readonly<Record<string, unknown>>;

/** The classes of events that carry data. */
export function createEventKinds({ Event, EventTarget }: Pick<EventClasses, 'Event' | 'EventTarget'>) {
  /** Makes a class of events whose properties come from their settings, or from the defaults. */
  function kind(name: string, defaults: Readonly<Record<string, unknown>>) {
    const Kind = class extends Event {
      #settings: Settings;

      constructor(type: unknown, settings: Settings = {}) {
        if (arguments.length === 0) throw tooFewArguments(name, 1);
        super(type, settings);
        this.#settings = readSettings(settings ?? {}, defaults);
      }

      static settingOf(event: InstanceType<typeof Kind>, property: string): unknown {
        return event.#settings[property];
      }

      static change(event: InstanceType<typeof Kind>, settings: Settings): void {
        event.#settings = readSettings(settings, defaults);
      }
    };
    const { settingOf, change } = Kind;
    Reflect.deleteProperty(Kind, 'settingOf');
    Reflect.deleteProperty(Kind, 'change');
    Object.defineProperty(Kind, 'name', { value: name, configurable: true });
    for (const property of Object.keys(defaults)) {
      Object.defineProperty(Kind.prototype, property, {
        get(this: InstanceType<typeof Kind>): unknown {
          return settingOf(this, property);
        },
        enumerable: true,
        configurable: true,
      });
    }
    conformToWebIdl(Kind);
    return { Kind, set: (event: InstanceType<typeof Kind>, settings: Settings) => change(event, settings) };
  }

  const custom = kind('CustomEvent', { detail: null });
  const message = kind('MessageEvent', { data: null, origin: '', lastEventId: '', source: null, ports: [] });
  const { Kind: PromiseRejection } = kind('PromiseRejectionEvent', { promise: undefined, reason: undefined });

  class CustomEvent extends custom.Kind {
    initCustomEvent(type: unknown, bubbles?: unknown, cancelable?: unknown, detail: unknown = null): void {
      if (this.eventPhase !== 0) return;
      this.initEvent(type, bubbles, cancelable);
      custom.set(this, { detail });
    }
  }

  class MessageEvent extends message.Kind {
    constructor(type: unknown, settings?: Settings) {
      const { source } = settings ?? {};
      if (source !== undefined && source !== null && !(source instanceof EventTarget)) {
        throw new TypeError('The source of a message is a port');
      }
      if (arguments.length === 0) throw tooFewArguments('MessageEvent', 1);
      super(type, settings);
    }

    initMessageEvent(type: unknown, bubbles?: unknown, cancelable?: unknown, ...given: unknown[]): void {
      if (this.eventPhase !== 0) return;
      this.initEvent(type, bubbles, cancelable);
      const [data, origin, lastEventId, source, ports] = given;
      message.set(this, { data, origin, lastEventId, source, ports });
    }
  }

  class PromiseRejectionEvent extends PromiseRejection {
    constructor(type: unknown, settings: Settings) {
      if (!(settings?.['promise'] instanceof Promise)) throw new TypeError('The event needs a promise');
      super(type, settings);
    }
  }
  conformToWebIdl(CustomEvent, { required: { initCustomEvent: 1 } });
  conformToWebIdl(MessageEvent, { required: { initMessageEvent: 1 } });
  conformToWebIdl(PromiseRejectionEvent);

  return {
    CustomEvent,
    MessageEvent,
    PromiseRejectionEvent,
    ErrorEvent: kind('ErrorEvent', { message: '', filename: '', lineno: 0, colno: 0, error: undefined }).Kind,
  };
}

/** The settings of an event, each converted to the type of its default (Web IDL 3.2.17). */
function readSettings(given: Settings, defaults: Readonly<Record<string, unknown>>): Settings {
  const settings: Record<string, unknown> = {};
  for (const [name, byDefault] of Object.entries(defaults)) {
    const value = given[name];
    if (Array.isArray(byDefault)) settings[name] = Object.freeze(listOf(value ?? []));
    else if (value === undefined) settings[name] = byDefault;
    else if (typeof byDefault === 'string') settings[name] = `${value as string}`;
    else if (typeof byDefault === 'number') settings[name] = Number(value) >>> 0;
    else settings[name] = typeof byDefault === 'boolean' ? Boolean(value) : value;
  }
  return settings;
}

function listOf(value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) throw new TypeError('The ports of a message are a list');
  return [...(value as Iterable<unknown>)];
}

export type EventKinds = ReturnType<typeof createEventKinds>;
