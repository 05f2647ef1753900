import t from 'tap';
import { StoreUnavailable } from '../../../../../src/domain/errors.ts';
import {
  callerErrorOf,
  databaseErrorReason,
  isConnectionTrouble,
  isSerializationFailure,
} from '../../../../../src/store/postgres/postgres-errors.ts';

const coded = (code: string) => Object.assign(new Error(code), { code });

t.test('collisions may run again, and nothing else', async (t) => {
  for (const code of ['40001', '40P01']) t.equal(isSerializationFailure(coded(code)), true);
  for (const error of [coded('40002'), coded('23505'), new Error('40001'), '40001', null, { code: '40001' }]) {
    t.equal(isSerializationFailure(error), false);
  }
});

t.test('a database that is away is told as such, with the cause', async (t) => {
  const away = [
    ...['08006', '08P01', '57P01', '57P03', '53300', '25006', '25P03', 'ECONNREFUSED', 'EPIPE'].map(coded),
    new Error('Connection terminated unexpectedly'),
    new Error('timeout exceeded when trying to connect'),
    new Error('Query read timeout'),
  ];
  for (const error of away) {
    t.equal(isConnectionTrouble(error), true, error.message);
    t.match(callerErrorOf(error), { code: 'UNAVAILABLE', message: 'The database does not answer', cause: error });
  }
});

t.test('a statement that the server ended for its time is told as such, and its connection goes on', async (t) => {
  t.match(callerErrorOf(coded('57014')), { code: 'UNAVAILABLE' });
  t.type(callerErrorOf(coded('57014')), StoreUnavailable);
  t.equal(isConnectionTrouble(coded('57014')), false);
});

t.test('other errors are told as they are', async (t) => {
  for (const error of [coded('23505'), coded('42P01'), new Error('mishap'), 'text', undefined]) {
    t.equal(isConnectionTrouble(error), false);
    t.equal(callerErrorOf(error), error);
  }
});

t.test('a reason is one line, also where each address of a host has its own', async (t) => {
  const refused = [new Error('connect ECONNREFUSED ::1:5432'), new Error('connect ECONNREFUSED 127.0.0.1:5432')];
  t.equal(
    databaseErrorReason(new AggregateError([...refused, refused[0]])),
    'connect ECONNREFUSED ::1:5432; connect ECONNREFUSED 127.0.0.1:5432',
  );
  t.equal(databaseErrorReason('text'), 'text');
});
