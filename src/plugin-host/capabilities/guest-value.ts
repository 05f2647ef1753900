import type { Json } from '../../../sandbox/protocol.ts';
import type { Wire } from '../../domain/json/json.ts';

/** Thrown when a value is larger than what may cross to the guest or come from it. */
export class TooLarge extends Error {
  constructor(limit: number) {
    super(`larger than ${limit} bytes`);
    this.name = 'TooLarge';
  }
}

/**
 * A service's answer as plain JSON for the guest. Integers beyond 2^53 become decimal strings; absent fields are left
 * out.
 * @throws TooLarge when its JSON text would exceed about `limit` bytes
 */
export function guestValue(wire: Wire, limit: number): Json {
  return plain(wire, new Budget(limit));
}

/**
 * Checks the size of a guest's value without writing its JSON text.
 * @throws TooLarge
 */
export function assertSize(value: Json, limit: number): void {
  measure(value, new Budget(limit));
}

class Budget {
  private left: number;
  private readonly limit: number;

  constructor(limit: number) {
    this.limit = limit;
    this.left = limit;
  }

  take(bytes: number): void {
    this.left -= bytes;
    if (this.left < 0) throw new TooLarge(this.limit);
  }
}

function plain(wire: Wire, budget: Budget): Json {
  if (typeof wire === 'bigint') {
    const number = Number(wire);
    budget.take(8);
    return Number.isSafeInteger(number) ? number : wire.toString();
  }
  if (Array.isArray(wire)) {
    budget.take(2);
    return wire.map((item) => plain(item, budget));
  }
  if (typeof wire === 'object' && wire !== null) {
    const result: { [key: string]: Json } = {};
    for (const [key, value] of Object.entries(wire)) {
      if (value === undefined) continue;
      budget.take(Buffer.byteLength(key) + 4);
      define(result, key, plain(value, budget));
    }
    return result;
  }
  const value = wire ?? null;
  measure(value, budget);
  return value;
}

function measure(value: Json, budget: Budget): void {
  if (typeof value === 'string') budget.take(Buffer.byteLength(value) + 2);
  else if (typeof value !== 'object' || value === null) budget.take(8);
  else if (Array.isArray(value)) {
    budget.take(2);
    for (const item of value) measure(item, budget);
  } else {
    for (const [key, item] of Object.entries(value)) {
      budget.take(Buffer.byteLength(key) + 4);
      measure(item, budget);
    }
  }
}

/** A node may answer with a key named `__proto__`; plain assignment would change the object's prototype instead. */
function define(target: { [key: string]: Json }, key: string, value: Json): void {
  if (key === '__proto__') {
    Object.defineProperty(target, key, { value, enumerable: true, writable: true, configurable: true });
  } else target[key] = value;
}
