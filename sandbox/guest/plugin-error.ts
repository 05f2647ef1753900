import type { PluginErrorShape } from './plugin-api.ts';

/** Under this symbol the guest runtime leaves its PluginError, so that it and the plugin's bundle share one class. */
export const PLUGIN_ERROR_CLASS = Symbol.for('isolayer.PluginError');

/** An error whose code, HTTP status and details reach the caller as they are. */
export class PluginError extends Error {
  readonly code: string | undefined;
  readonly status: number | undefined;
  readonly details: unknown;

  static {
    // On the prototype as for the built-in errors, so that it is not listed among the error's own data.
    Object.defineProperty(this.prototype, 'name', { value: 'PluginError', writable: true, configurable: true });
  }

  constructor(message: string, { code, status, details }: PluginErrorShape = {}) {
    super(message);
    this.code = code;
    this.status = status;
    this.details = details;
  }
}
