import { buildConnector } from 'undici';
import type { AddressGuard } from './address-guard.ts';

/**
 * Opens connections to the addresses that the guard lets through. A literal address never reaches the lookup, so the
 * host of every connection is checked first.
 */
export function guardedConnector(guard: AddressGuard, options: buildConnector.BuildOptions): buildConnector.connector {
  const connect = buildConnector({ ...options, lookup: guard.lookup });
  return (target, callback) => {
    try {
      guard.checkHost(target.hostname);
    } catch (error) {
      callback(error as Error, null);
      return;
    }
    connect(target, callback);
  };
}
