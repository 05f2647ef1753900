import t from 'tap';
import { createEvmChain } from '../../../../src/chains/evm/index.ts';
import { createStellarChain } from '../../../../src/chains/stellar/index.ts';
import { checkCaveats } from '../../../../src/config/caveats.ts';
import type { ChainSchemas } from '../../../../src/config/chain-schemas.ts';
import { Findings, textOf } from '../../../../src/config/problems.ts';
import { systemClock } from '../../../../src/domain/clock.ts';

const { spending: _spending, ...untold } = createStellarChain();
const families = new Map<string, ChainSchemas>([
  ['payer', createEvmChain(systemClock)],
  ['stellar-1', untold],
]);

function faults(relayers: object): string[] {
  const findings = new Findings();
  checkCaveats({ permissions: { relayers } }, { file: 'f', path: 'plugins[0]' }, families, findings);
  return findings.problems.map(textOf);
}

t.test('what is named is an account and a function', (t) => {
  const to = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266';
  const good = { methods: ['send'], recipients: [to], selectors: ['0x', '0xa9059cbb', 'transfer(address,uint256)'] };
  t.strictSame(faults({ payer: good, other: { recipients: ['nobody knows its chain'] } }), []);
  t.strictSame(faults({ payer: { ...good, recipients: [to, 'alice', 7], selectors: ['transfer'] } }), [
    'f: plugins[0].permissions.relayers.payer.recipients[1]: expected an account of a network of type evm, not "alice"',
    'f: plugins[0].permissions.relayers.payer.selectors[0]: expected a function, as 0xa9059cbb or ' +
      'transfer(address,uint256), or 0x, not "transfer"',
  ]);
  t.end();
});

t.test('where nobody can tell what is sent, nothing may be limited', (t) => {
  t.match(faults({ 'stellar-1': { methods: ['send'], value_per_hour: 1 } }), [
    /relayers\.stellar-1: what is sent through relayers of type stellar cannot be limited in this version\. Leave out value_per_hour/,
  ]);
  t.strictSame(faults({ 'stellar-1': { methods: ['send'] } }), []);
  t.strictSame(faults({ 'stellar-1': ['send'] }), []);
  t.end();
});

t.test('what has no form is reported elsewhere', (t) => {
  const findings = new Findings();
  for (const value of ['text', {}, { permissions: { relayers: { payer: { recipients: 'all' } } } }]) {
    checkCaveats(value, { file: 'f', path: 'p' }, families, findings);
  }
  t.strictSame(findings.problems, []);
  t.end();
});
