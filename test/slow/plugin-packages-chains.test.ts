/** Packages for chains work in a plugin as in Node, as the table in the docs says. */
import t from 'tap';
import { holdTable } from '../support/packages/table.ts';

t.test('chains, keys, hashes and encodings', (t) => holdTable(t, ['Chains', 'Keys, hashes and encodings']));
