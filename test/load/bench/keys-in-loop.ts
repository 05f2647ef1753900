/** Entry point of a server that signs in its main loop, while `src/main.ts` signs in a separate thread. */

import { compose } from '../../../src/app/compose.ts';
import { createChains } from '../../../src/chains/registry.ts';
import { systemClock } from '../../../src/domain/clock.ts';
import { createLog } from '../../../src/observability/log.ts';
import { loadConfiguration } from '../../../src/settings/load.ts';
import { createSignerKinds } from '../../../src/signers/registry.ts';
import { keysHere } from '../../support/signer-tools.ts';

const chains = createChains(systemClock);
const signerKinds = createSignerKinds();
const configuration = await loadConfiguration({ env: process.env, cwd: process.cwd(), chains, signerKinds });
const log = createLog(configuration.environment.LOG_LEVEL);
const service = await compose({ configuration, chains, signerKinds, log, keyHolder: keysHere });
process.once('SIGTERM', () => void service.close().then(() => process.exit(0)));
log.info({ address: service.address, metricsAddress: service.metricsAddress }, 'ready');
