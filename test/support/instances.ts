import { join } from 'node:path';
import type { Test } from 'tap';
import { type Anvil, type AnvilOptions, startAnvil } from './anvil.ts';
import type { Postgres } from './postgres.ts';
import { type RunningService, startService } from './service.ts';
import { createWorkspace } from './workspace.ts';

/** Several instances of the service on one database and one node, with one funded relayer, `local-1`. */
export interface Instances {
  anvil: Anvil;
  address: string;
  databaseUrl: string;
  /** Starts one more, with a data folder of its own. */
  start(): Promise<RunningService>;
}

/** Makes an empty database, a node and a configuration; the instances that are started end with the test. */
export async function instancesFor(t: Test, postgres: Postgres, options: AnvilOptions = {}): Promise<Instances> {
  const anvil = await startAnvil(options);
  t.teardown(() => anvil.stop());
  const workspace = await createWorkspace({ rpcUrl: anvil.url });
  t.teardown(() => workspace.remove());
  await anvil.rpc('anvil_setBalance', [workspace.address, `0x${(10n ** 20n).toString(16)}`]);
  const databaseUrl = await postgres.createDatabase();
  const shared = {
    ...workspace.env,
    HOST: '127.0.0.1',
    API_KEY: 'the same key on every instance, 32 or more'.replaceAll(' ', '-'),
    DATABASE_URL: databaseUrl,
    STORAGE_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    RATE_LIMIT_REQUESTS_PER_SECOND: '100000',
    RATE_LIMIT_BURST_SIZE: '100000',
    LOG_LEVEL: 'debug',
  };
  let count = 0;
  return {
    anvil,
    address: workspace.address,
    databaseUrl,
    async start() {
      count += 1;
      const service = await startService({ ...shared, DATA_DIR: join(workspace.dir, `data-${count}`) });
      t.teardown(() => service.kill());
      return service;
    },
  };
}
