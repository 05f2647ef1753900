/**
 * Threat: the process does a guest's cryptography. That code cannot be stopped, shares threads and memory with all
 * calls of the plugin, and takes keys as bytes. If one of these fails, look at `sandbox/process/crypto/`.
 */
import t from 'tap';
import { AttackRun } from '../../support/attacks/attack-run.ts';
import { CRYPTOGRAPHY_ATTACKS } from '../../support/attacks/cryptography.ts';

const attackRun = await AttackRun.open(t, CRYPTOGRAPHY_ATTACKS);

t.test('variations: the process’s cryptography serves whoever is next', async (t) => {
  // Threat: unlimited work, unlimited memory, and keys and requests that are not what they claim to be.
  await attackRun.assertContained(t, null);
});

t.test('nothing of it goes on', (t) => attackRun.assertOver(t));
