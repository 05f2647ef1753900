/** The entry: reads the configuration, starts the service, ends it when the system asks. */
import type { Service } from './compose.ts';
import { keepLater } from './loading/keep-later.ts';
import { resolveOwnModules } from './loading/own-modules.ts';
import { takePackages } from './loading/take-packages.ts';

/** On an older one the flags of plugin processes do not exist, and their network would be open. */
if (!process.version.startsWith('v26.')) {
  fail('Isolayer did not start.', `It runs on Node 26, and this is ${process.version}: npm start takes the right one.`);
}

const stop = new AbortController();
let endingSince = 0;

/** What it is made of is loaded only now: a signal that comes before has somebody to hear it. */
async function start(): Promise<Service> {
  const areKept = takePackages();
  resolveOwnModules();
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
    import('./compose.ts'),
    import('./config/load.ts'),
    import('./domain/clock.ts'),
    import('./observability/log.ts'),
    import('./observability/welcome.ts'),
    import('./signers/registry.ts'),
  ]);
  stop.signal.throwIfAborted();
  const chains = createChains(systemClock);
  const signerKinds = createSignerKinds();
  const readConfiguration = () => loadConfiguration({ env: process.env, cwd: process.cwd(), chains, signerKinds });
  const configuration = await readConfiguration();
  const { LOG_LEVEL, LOG_FORMAT } = configuration.environment;
  const { isTTY } = process.stdout;
  const isColoured = isTTY && (process.env['NO_COLOR'] ?? '') === '';
  const log = createLog(LOG_LEVEL, { format: LOG_FORMAT ?? (isTTY ? 'human' : 'json'), isColoured });
  for (const warning of configuration.warnings) log.warn({ warning }, 'configuration');
  const service = await compose({ configuration, readConfiguration, chains, signerKinds, log, stop: stop.signal });
  if (!stop.signal.aborted) {
    log.info({ address: service.address, metricsAddress: service.metricsAddress }, 'ready');
    // Not where the text may be kept: the link stands for the key.
    const signInLink = process.stderr.isTTY ? service.signInLink() : null;
    process.stderr.write(welcome({ ...service, signInLink }));
    if (!areKept) keepLater();
  }
  service.broken
    .then((reason) => giveUp(service, reason))
    .catch((error: unknown) => fail('Isolayer did not end in good order.', error));
  return service;
}

/** What it stands on is no longer what it was: it ends in good order, and with an exit code that is not 0. */
async function giveUp(service: Service, reason: Error): Promise<never> {
  stop.abort();
  await service.close();
  return fail('Isolayer cannot go on.', reason);
}

/** npm passes on the signal of a Ctrl-C that the terminal has given to us as well: within this time both are one. */
const ONE_SIGNAL_MS = 1000;

/** First signal: in good order, also when the start is still under way. Second: at once. */
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
  // Nothing that was left open, in a library for instance, keeps the process.
  process.exit(0);
}

/** A start that was told to stop has ended what it began. */
function unlessStopped(error: unknown): void {
  if (!stop.signal.aborted || error !== stop.signal.reason) throw error;
}

function fail(what: string, error: unknown): never {
  process.stderr.write(`${what}\n${reasonsOf(error).join('\n')}\n`);
  process.exit(1);
}

function reasonsOf(error: unknown): string[] {
  if (error instanceof AggregateError) return error.errors.flatMap(reasonsOf);
  return [error instanceof Error ? error.message : String(error)];
}

// Whoever read it may be gone before we are, as `tee` is after a Ctrl-C; the service still ends in good order.
process.stderr.on('error', () => undefined);
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    end(signal, starting).catch((error: unknown) => fail('Isolayer did not end in good order.', error));
  });
}
const starting = start();
starting.catch(unlessStopped).catch((error: unknown) => fail('Isolayer did not start.', error));
