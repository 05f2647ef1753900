import t from 'tap';
import { typeText } from '../../../../../src/http/openapi/type-text.ts';

t.test('a schema in a few words', (t) => {
  t.equal(typeText({ $ref: '#/components/schemas/Relayer' }), '<a href="#schema-Relayer">Relayer</a>');
  t.equal(typeText({ type: 'integer', minimum: 0, maximum: 5 }), 'integer, from <code>0</code>, to <code>5</code>');
  t.equal(
    typeText({ anyOf: [{ type: 'string', enum: ['a', 'b'] }, { type: 'null' }] }),
    'string, one of <code>a, b</code> or null',
  );
  t.equal(typeText({ type: ['string', 'null'], default: 'x' }), 'string or null, default <code>x</code>');
  t.equal(typeText({}), 'any');
  t.end();
});
