import { createRequire } from 'node:module';
import type * as Undici from 'undici';

/** Its files are loaded one by one: the package's entry would also load `fetch`, WebSocket and caches, at every start. */
const require = createRequire(import.meta.url);

export const Agent = require('undici/lib/dispatcher/agent.js') as typeof Undici.Agent;
export type Agent = Undici.Agent;
export const buildConnector = require('undici/lib/core/connect.js') as typeof Undici.buildConnector;
export const { ConnectTimeoutError, HeadersOverflowError } =
  require('undici/lib/core/errors.js') as typeof Undici.errors;
