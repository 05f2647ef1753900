/** Packages from npm work in a plugin as in Node, as the table in the docs says. */
import t from 'tap';
import { countOf, holdTable } from '../support/packages/table.ts';

t.test('requests, formats, validation, values and flow', (t) =>
  holdTable(t, ['Requests and formats', 'Validation', 'Values', 'Flow, tokens and compression']),
);

t.test('at least 55 of 60', (t) => {
  const { equal, all } = countOf();
  t.ok(all >= 60, `${all}`);
  t.ok(equal >= 55, `${equal}`);
  t.end();
});
