/** The real driver thread, whose children are those of the hostile sandbox that the environment names. */
import { workerData } from 'node:worker_threads';
import type { DriverData } from '../../sandbox/protocol.ts';

(workerData as DriverData).sandboxDir = process.env['ISOLAYER_TEST_HOSTILE_SANDBOX'] ?? '';
const driver = await import('../../sandbox/driver/driver.ts');

export const task = driver.task;
