import t from 'tap';
import { load, problemsOf, relayer, signer } from '../../../support/config-folder.ts';

const sealed = { id: 's1', type: 'sealed', config: {} };
const onStellar = { ...relayer, network_type: 'stellar', network: 'mainnet' };
const configuration = (one: object, other: object) => ({ 'config/config.json': { relayers: [one], signers: [other] } });

t.test('a signer that has no key on the curve of the network names the relayer and what would do', async (t) => {
  t.strictSame(await problemsOf(t, configuration(relayer, sealed)), [
    'config/config.json: relayers[0].signer_id: signer "s1" of type sealed cannot sign for relayer "r1": networks of ' +
      'type evm sign on secp256k1, and it signs on ed25519. Name a signer of type local or either',
  ]);
});

t.test('one that has a key and cannot sign with it for the family says why', async (t) => {
  t.strictSame(await problemsOf(t, configuration(onStellar, { ...sealed, type: 'half' })), [
    'config/config.json: relayers[0].signer_id: signer "s1" of type half cannot sign for relayer "r1": it knows no ' +
      'stars. Name a signer of type local or either or sealed',
  ]);
});

t.test('one whose configuration says on which curve its key is', async (t) => {
  const either = (curve: string) => ({ ...sealed, type: 'either', config: { curve } });
  t.strictSame(await problemsOf(t, configuration(relayer, either('ed25519'))), [
    'config/config.json: relayers[0].signer_id: signer "s1" of type either cannot sign for relayer "r1": networks of ' +
      'type evm sign on secp256k1, and it signs on ed25519. Name a signer of type local or either with a key on secp256k1',
  ]);
  t.equal((await load(t, configuration(relayer, either('secp256k1')))).relayers.length, 1);
});

t.test('one that has is fine', async (t) => {
  t.equal((await load(t, configuration(onStellar, sealed))).relayers.length, 1);
  t.equal((await load(t, configuration(relayer, signer))).relayers.length, 1);
  t.equal((await load(t, configuration(onStellar, signer))).relayers.length, 1);
});
