import { FetchFailure } from '../../src/egress/fetch/plugin-fetch.ts';
import type { PluginHttp } from '../../src/egress/fetch/plugin-http.ts';
import type { ServicesDeps } from '../../src/features/create-services.ts';
import { createFetchService } from '../../src/features/plugins/fetch.ts';
import type { StoreReader } from '../../src/store/store.ts';

/** HTTP for plugins that reaches no host. */
/** For services without triggers. */
export const NO_TRIGGERS: ServicesDeps['triggers'] = {
  declared: () => [],
  secret: ({ value }) => value,
  calls: { wake: () => {} },
  changed: () => {},
};

export const NO_PLUGIN_HTTP: PluginHttp = {
  fetch: () => Promise.reject(new FetchFailure('transport', 'nobody is reached from here', { unsent: true })),
  close: () => Promise.resolve(),
};

/** A fetch service over other HTTP, for requests without an idempotency key. */
export function fetchServiceOver(http: PluginHttp) {
  const write = () => Promise.reject(new Error('no request has a key here'));
  return createFetchService({ http, store: { read: {} as StoreReader, write } });
}
