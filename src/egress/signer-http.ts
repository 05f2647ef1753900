import { createAddressGuard } from './address-guard.ts';
import { createHttpClient, type HttpClient } from './http-client.ts';

/** The way to services that hold keys. The operator named each of them, so they may lie inside. */
export function createSignerHttp(): HttpClient {
  return createHttpClient(createAddressGuard({ allowedHosts: [], blockPrivate: false }));
}
