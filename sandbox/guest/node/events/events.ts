import { outOfRange, wrongType } from '../node-error.ts';
import {
  captureRejectionSymbol,
  type Emitter,
  EventEmitter,
  type EventName,
  errorMonitor,
  settings,
} from './emitter.ts';
import { addAbortListener, on, once } from './waiting.ts';

/**
 * Node's module `events`: the constructor itself, with functions on it.
 * @param changed called when a setting of all emitters changes
 */
export function createEvents(changed: () => void): typeof EventEmitter {
  function set<Name extends keyof typeof settings>(name: Name, value: (typeof settings)[Name]): void {
    changed();
    settings[name] = value;
  }
  const functions = {
    once,
    on,
    addAbortListener,
    EventEmitter,
    errorMonitor,
    captureRejectionSymbol,
    usingDomains: false,
    init: EventEmitter,
    EventEmitterAsyncResource,
    getEventListeners: (emitter: Emitter, name: EventName) => emitter.listeners(name),
    getMaxListeners: (emitter: Emitter) => emitter.getMaxListeners?.() ?? settings.defaultMaxListeners,
    listenerCount: (emitter: Emitter, name: EventName) => emitter.listeners(name).length,
    setMaxListeners(most: number = settings.defaultMaxListeners, ...emitters: Emitter[]) {
      if (typeof most !== 'number' || !(most >= 0)) throw outOfRange('setMaxListeners', '>= 0', most);
      if (emitters.length === 0) set('defaultMaxListeners', most);
      // An EventTarget has no such limit here.
      for (const emitter of emitters) emitter.setMaxListeners?.(most);
    },
  };
  for (const [name, value] of Object.entries(functions)) {
    Object.defineProperty(EventEmitter, name, { value, writable: true, enumerable: true, configurable: true });
  }
  Object.defineProperties(EventEmitter, {
    defaultMaxListeners: {
      enumerable: true,
      configurable: true,
      get: () => settings.defaultMaxListeners,
      set(most: unknown) {
        if (typeof most !== 'number') throw wrongType('defaultMaxListeners', 'of type number', most);
        if (!(most >= 0)) throw outOfRange('defaultMaxListeners', '>= 0', most);
        set('defaultMaxListeners', most);
      },
    },
    captureRejections: {
      enumerable: true,
      configurable: true,
      get: () => settings.captureRejections,
      set: (value: unknown) => {
        set('captureRejections', Boolean(value));
      },
    },
  });
  return EventEmitter;
}

/** An emitter whose listeners run in the context in which it was made. Here there is only one context. */
class EventEmitterAsyncResource extends (EventEmitter as unknown as new (options?: object) => Emitter) {
  get asyncId(): number {
    return 0;
  }

  get triggerAsyncId(): number {
    return 0;
  }

  emitDestroy(): void {}
}
