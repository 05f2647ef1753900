import t from 'tap';
import { foreignVariables } from '../../../../src/config/foreign-variables.ts';

t.test('the names of what does not exist here, and no others', (t) => {
  const foreign = [
    'ACTIX_WORKERS',
    'BACKGROUND_WORKER_X_CONCURRENCY',
    'PLUGIN_POOL_MAX_THREADS',
    'PLUGIN_USE_POOL',
    'REDIS_URL',
    'RUST_LOG',
  ];
  const ours = [
    'API_KEY',
    'PLUGIN_MAX_PROCESSES',
    'PLUGINS_DIR',
    'LOG_LEVEL',
    'PATH',
    'MY_REDIS_URL',
    'RPC_TIMEOUT_MS',
  ];
  t.strictSame(foreignVariables(Object.fromEntries([...foreign, ...ours].map((name) => [name, '1']))), foreign);
  t.end();
});
