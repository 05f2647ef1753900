/** The exports of `'../lib/plugin'`, for a plugin that was written next to the library of the reference. */
import type { PluginAPI } from '../plugin-api.ts';
import { frozen } from '../sdk/frozen.ts';

export * from './relayer-sdk.ts';

/** As `RUN_PLUGIN` in `sandbox/language-names.ts`. */
const RUN_PLUGIN = '__isolayer_run_plugin__';

/**
 * The entry point of plugins from before exports: names the function that each call runs with `(api, params)`. Works
 * while the module loads.
 */
export const runPlugin = /* @__PURE__ */ frozen((main: (api: PluginAPI, params: never) => unknown): void => {
  if (typeof main !== 'function') throw new TypeError('runPlugin needs a function to run');
  const globals = globalThis as { [RUN_PLUGIN]?: unknown };
  if (!(RUN_PLUGIN in globals)) throw new Error('runPlugin works only while the module loads');
  globals[RUN_PLUGIN] = main;
}, 'runPlugin');
