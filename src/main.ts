/** The entry: reads the configuration, starts the service, ends it when the system asks. */
import { createChains } from './chains/registry.ts';
import { compose, type Service } from './compose.ts';
import { loadConfiguration } from './config/load.ts';
import { systemClock } from './domain/clock.ts';
import { createLog } from './observability/log.ts';
import { welcome } from './observability/welcome.ts';
import { createSignerKinds } from './signers/registry.ts';

let service: Service | undefined;
let ending = false;

async function start(): Promise<void> {
  const chains = createChains(systemClock);
  const signerKinds = createSignerKinds();
  const configuration = await loadConfiguration({ env: process.env, cwd: process.cwd(), chains, signerKinds });
  const log = createLog(configuration.environment.LOG_LEVEL);
  for (const warning of configuration.warnings) log.warn({ warning }, 'configuration');
  service = await compose({ configuration, chains, signerKinds, log });
  if (ending) return;
  log.info({ address: service.address }, 'ready');
  process.stderr.write(welcome(service));
}

/** First signal: in good order. Second: at once. */
async function end(signal: NodeJS.Signals): Promise<void> {
  if (ending) process.exit(1);
  ending = true;
  process.stderr.write(`${signal}: finishing what is under way; once more ends at once\n`);
  await service?.close();
}

function refuse(error: unknown): void {
  process.stderr.write(`Isolayer did not start.\n${reasonsOf(error).join('\n')}\n`);
  process.exitCode = 1;
}

function reasonsOf(error: unknown): string[] {
  if (error instanceof AggregateError) return error.errors.flatMap(reasonsOf);
  return [error instanceof Error ? error.message : String(error)];
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    end(signal).catch(refuse);
  });
}
start().catch(refuse);
