/**
 * Threat: the process does a guest's cryptography, by code that nothing can stop, on threads and memory that all calls of
 * its plugin share, with keys that come as bytes. If one of these fails, look at `sandbox/process/crypto/`.
 */
import t from 'tap';
import { CRYPTOGRAPHY_ATTACKS } from '../../support/attacks/cryptography.ts';
import { Siege } from '../../support/attacks/siege.ts';

const siege = await Siege.open(t, CRYPTOGRAPHY_ATTACKS);

t.test('variations: the process’s cryptography serves whoever is next', async (t) => {
  // Threat: work without a bound, memory without a bound, keys and questions that are not what they say.
  await siege.assertContained(t, null);
});

t.test('nothing of it goes on', (t) => siege.assertOver(t));
