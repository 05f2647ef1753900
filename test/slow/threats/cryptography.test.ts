/**
 * Threat: the process does a guest's cryptography. That code cannot be stopped, shares threads and memory with all
 * calls of the plugin, and takes keys as bytes. If one of these fails, look at `sandbox/process/crypto/`.
 */
import t from 'tap';
import { CRYPTOGRAPHY_ATTACKS } from '../../support/attacks/cryptography.ts';
import { Siege } from '../../support/attacks/siege.ts';

const siege = await Siege.open(t, CRYPTOGRAPHY_ATTACKS);

t.test('variations: the process’s cryptography serves whoever is next', async (t) => {
  // Threat: unlimited work, unlimited memory, and keys and requests that are not what they claim to be.
  await siege.assertContained(t, null);
});

t.test('nothing of it goes on', (t) => siege.assertOver(t));
