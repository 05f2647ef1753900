import t from 'tap';
import { ERRORS, type ErrorCode } from '../../../../../src/domain/errors.ts';
import { exampleOf, textOf } from '../../../../../src/http/openapi/error-example.ts';

const family = { networkType: 'evm', unit: 'wei' };

t.test('no example and no description is left with a placeholder for its whole reason', async (t) => {
  for (const code of Object.keys(ERRORS) as ErrorCode[]) {
    const { message, publicMessage, status } = exampleOf(code, family);
    t.notMatch(`${message} ${publicMessage}`, /\{\w+\}|undefined/, code);
    t.equal(status, ERRORS[code].status);
    t.not(textOf(code), '{reason}');
  }
  t.equal(exampleOf('INVALID_REQUEST', family).message, 'missing field `value`');
  t.equal(exampleOf('PLUGIN_NOT_FOUND', family).message, 'Plugin with id double not found');
});
