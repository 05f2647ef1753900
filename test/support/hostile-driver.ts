/** The real driver thread, whose children run the hostile program in the file that the environment names. */
import { readFileSync } from 'node:fs';
import { workerData } from 'node:worker_threads';
import type { DriverData } from '../../sandbox/protocol.ts';

(workerData as DriverData).program = readFileSync(process.env['ISOLAYER_TEST_HOSTILE_PROGRAM'] ?? '', 'utf8');
const driver = await import('../../sandbox/driver/driver.ts');

export const task = driver.task;
