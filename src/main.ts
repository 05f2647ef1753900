/** The entry. Reads the configuration, starts the service, and ends it on a signal. */
import type { Service } from './app/compose.ts';

/** Older versions of Node lack the flags of plugin processes. Plugins would have network access there. */
if (!process.version.startsWith('v26.')) {
  fail('Isolayer did not start.', `It runs on Node 26, and this is ${process.version}: npm start takes the right one.`);
}

const stop = new AbortController();
let endingSince = 0;

/** Starts the service. Its modules are loaded only here, so that signal handlers exist before that. */
async function start(): Promise<Service> {
  const [
    { createChains },
    { compose },
    { loadConfiguration },
    { systemClock },
    { createLog },
    { welcome },
    { createSignerKinds },
  ] = await Promise.all([
    import('./chains/registry.ts'),
    import('./app/compose.ts'),
    import('./settings/load.ts'),
    import('./domain/clock.ts'),
    import('./observability/log.ts'),
    import('./observability/welcome.ts'),
    import('./signers/registry.ts'),
  ]);
  stop.signal.throwIfAborted();
  const chains = createChains(systemClock);
  const signerKinds = createSignerKinds();
  const source = { env: process.env, cwd: process.cwd(), chains, signerKinds };
  const readConfiguration = () => loadConfiguration(source);
  const configuration = await loadConfiguration({ ...source, isFirst: true });
  const { LOG_LEVEL, LOG_FORMAT } = configuration.environment;
  const { isTTY } = process.stdout;
  const isColoured = isTTY && (process.env['NO_COLOR'] ?? '') === '';
  const log = createLog(LOG_LEVEL, { format: LOG_FORMAT ?? (isTTY ? 'human' : 'json'), isColoured });
  for (const warning of configuration.warnings) log.warn({ warning }, 'configuration');
  const service = await compose({ configuration, readConfiguration, chains, signerKinds, log, stop: stop.signal });
  if (!stop.signal.aborted) {
    log.info({ address: service.address, metricsAddress: service.metricsAddress }, 'ready');
    // The link gives access like the key, so it is shown only on a terminal, where the text is not stored.
    const signInLink = process.stderr.isTTY ? service.signInLink() : null;
    process.stderr.write(welcome({ ...service, signInLink, plugins: service.plugins() }));
  }
  service.broken
    .then((reason) => giveUp(service, reason))
    .catch((error: unknown) => fail('Isolayer did not end in good order.', error));
  return service;
}

/** Stops a service whose database has gone back in time. It closes in order and exits with a code other than 0. */
async function giveUp(service: Service, reason: Error): Promise<never> {
  stop.abort();
  await service.close();
  return fail('Isolayer cannot go on.', reason);
}

/**
 * Two signals within this time count as one. After Ctrl-C the terminal signals this process, and npm passes the same
 * signal on.
 */
const ONE_SIGNAL_MS = 1000;

/** Handles a signal. The first one closes the service in order, also during the start. The second one exits at once. */
async function end(signal: NodeJS.Signals, starting: Promise<Service>): Promise<void> {
  if (stop.signal.aborted) {
    if (performance.now() - endingSince > ONE_SIGNAL_MS) process.exit(1);
    return;
  }
  endingSince = performance.now();
  process.stderr.write(`${signal}: finishing what is under way; once more ends at once\n`);
  stop.abort();
  const service = await starting.catch(unlessStopped);
  await service?.close();
  // Exits even if something is still open, for instance in a library.
  process.exit(0);
}

/** Ignores the error of a stopped start. It has closed its parts by then. */
function unlessStopped(error: unknown): void {
  if (!stop.signal.aborted || error !== stop.signal.reason) throw error;
}

function fail(what: string, error: unknown): never {
  process.stderr.write(`${what}\n${reasonsOf(error).join('\n')}\n`);
  process.exit(1);
}

function reasonsOf(error: unknown): string[] {
  if (error instanceof AggregateError) return error.errors.flatMap(reasonsOf);
  // A source that was edited: only its stack names the place.
  if (error instanceof SyntaxError || error instanceof ReferenceError) return [error.stack ?? error.message];
  return [error instanceof Error ? error.message : String(error)];
}

// The reader of standard error may have ended, as `tee` does after a Ctrl-C. The service still ends in order.
process.stderr.on('error', () => undefined);
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    end(signal, starting).catch((error: unknown) => fail('Isolayer did not end in good order.', error));
  });
}
const starting = start();
starting.catch(unlessStopped).catch((error: unknown) => fail('Isolayer did not start.', error));
