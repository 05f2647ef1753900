import type { PluginErrorShape } from './plugin-api.ts';

/** The global property that holds the runtime's PluginError. The plugin's bundle reads it, so both use one class. */
export const PLUGIN_ERROR_CLASS = Symbol.for('isolayer.PluginError');

/** An error for the caller: the answer has its message, code, HTTP status and details unchanged. */
export class PluginError extends Error {
  readonly code: string | undefined;
  readonly status: number | undefined;
  readonly details: unknown;

  static {
    // Defined on the prototype, as for built-in errors. Otherwise `name` would be listed as an own property of each
    // error.
    Object.defineProperty(this.prototype, 'name', { value: 'PluginError', writable: true, configurable: true });
  }

  constructor(message: string, { code, status, details }: PluginErrorShape = {}) {
    super(message);
    this.code = code;
    this.status = status;
    this.details = details;
  }
}
