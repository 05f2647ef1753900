import { randomBytes, randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import type { Test } from 'tap';
import { systemClock } from '../../src/domain/clock.ts';
import { ChangeFeed } from '../../src/engine/change-feed.ts';
import { createTransactionEvents } from '../../src/features/transactions/transaction-events.ts';
import type { AuthenticatedKey } from '../../src/http/access/authenticate.ts';
import { SignInCode } from '../../src/http/access/sign-in-code.ts';
import { HTTP_LIMITS, type HttpLimits } from '../../src/http/admission.ts';
import { createCursorIds, createPlaceCursors } from '../../src/http/cursors.ts';
import { IdempotencyKeys } from '../../src/http/idempotency-keys.ts';
import { type TokenBucketSettings, TokenBuckets } from '../../src/http/rate-limiter.ts';
import { createHttpServer } from '../../src/http/server.ts';
import { createHealth, type HealthCheck } from '../../src/observability/health.ts';
import { createLog } from '../../src/observability/log.ts';
import { createMetrics } from '../../src/observability/metrics.ts';
import { FakePluginHost } from './fake-plugin-host.ts';
import { FakeServices } from './fake-services.ts';
import { RecordedMetrics } from './recorded-metrics.ts';
import { temporaryStore } from './store.ts';

export const API_KEY = 'a-key-for-tests-that-is-long-enough-0123456789';

const UNLIMITED = { perSecond: 1_000_000, burst: 1_000_000 };

/** The API server on a free port, over fakes; it ends with the test. */
export async function startHttp(
  t: Pick<Test, 'teardown'>,
  options: {
    limits?: Partial<HttpLimits>;
    checks?: Record<string, HealthCheck>;
    rate?: TokenBucketSettings;
    hasConsole?: boolean;
  } = {},
) {
  const services = new FakeServices();
  const pluginHost = new FakePluginHost();
  const metrics = new RecordedMetrics();
  const lines: string[] = [];
  const { store, remove } = await temporaryStore();
  t.teardown(remove);
  const log = createLog('debug', { write: (line) => void lines.push(line) });
  const idempotencyKeys = new IdempotencyKeys({ store, clock: systemClock, log, newId: randomUUID });
  t.teardown(() => idempotencyKeys.close());
  const events = new ChangeFeed(() => {});
  const keyChanges = new ChangeFeed(() => {});
  const clientKeys = new Map<string, AuthenticatedKey>();
  services.relayers.known.set('r1', { id: 'r1', paused: false, policies: { min_balance: 1n } });
  const signInCode = new SignInCode({ key: API_KEY, elapsed: systemClock.elapsed, randomBytes });
  const server = await createHttpServer({
    services,
    pluginHost,
    metrics,
    events: createTransactionEvents(store, { onNews: (listener) => events.onAny(listener) }),
    keys: {
      master: { id: 'default', key: API_KEY },
      withHash: (hash) => clientKeys.get(hash),
      onChange: (listener) => keyChanges.onAny(listener),
    },
    cursorIds: createCursorIds([Buffer.alloc(32, 5)], randomBytes),
    deliveryCursors: createPlaceCursors([Buffer.alloc(32, 5)], randomBytes),
    exposition: createMetrics(),
    limiter: new TokenBuckets(options.rate ?? UNLIMITED, systemClock),
    idempotencyKeys,
    log,
    health: createHealth(options.checks ?? {}, systemClock),
    limits: { ...HTTP_LIMITS, handlerSeconds: 30, ...options.limits },
    console: options.hasConsole === true ? { signInCode } : null,
    clock: systemClock,
    newId: randomUUID,
  });
  t.teardown(() => server.close(0));
  const url = await server.listen({ host: '127.0.0.1', port: 0, variable: 'APP_PORT' });
  const port = Number(new URL(url).port);

  /** Makes a request with the key. `init` overrides the rest. */
  const call = async (path: string, init: RequestInit = {}) => {
    const headers = { authorization: `Bearer ${API_KEY}`, ...(init.headers as Record<string, string>) };
    const response = await fetch(`${url}${path}`, { ...init, headers });
    return answer(response.status, response.headers, await response.text());
  };
  const post = (path: string, body: string, headers: Record<string, string> = {}) =>
    call(path, { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } });

  return {
    clientKeys,
    server,
    url,
    port,
    services,
    pluginHost,
    metrics,
    lines,
    store,
    events,
    keyChanges,
    signInCode,
    call,
    post,
  };
}

/** An answer with its body as text and parsed. */
function answer(status: number, headers: Headers, text: string) {
  return { status, headers, text, json: parsed(headers, text) };
}

function parsed(headers: Headers, text: string): unknown {
  const isJson = text !== '' && headers.get('content-type')?.startsWith('application/json') === true;
  return isJson ? JSON.parse(text) : undefined;
}

/** Sends bytes as they are and resolves with everything that came back until the server closed the connection. */
export function sendRaw(port: number, ...pieces: string[]): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const socket = connect(port, '127.0.0.1');
  let received = '';
  socket.setEncoding('utf8');
  socket.on('data', (text: string) => {
    received += text;
  });
  socket.on('close', () => resolve(received));
  socket.on('error', (error) => (received === '' ? reject(error) : resolve(received)));
  for (const piece of pieces) socket.write(piece);
  return promise;
}
