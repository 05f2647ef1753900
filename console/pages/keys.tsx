import { useState } from 'preact/hooks';
import { MASTER_KEY_ID } from '../../src/features/api-keys/records/access.ts';
import { useCall } from '../load.ts';
import { Action } from '../parts/action.tsx';
import { ListOf, Older, Pages, Table, useParts } from '../parts/table.tsx';
import { Time } from '../parts/text.tsx';

/** Shows the API keys with their permissions, and who changed what. */
export function Keys() {
  const [page, setPage] = useState(1);
  const keys = useCall('listApiKeys', { query: { page, per_page: 100 } });
  const parts = useParts('audit');
  const audit = useCall('listAuditRecords', { query: { per_page: 50, ...parts.query } });
  const revoked = () => {
    keys.reload();
    audit.reload();
  };
  return (
    <>
      <h1>Keys and audit</h1>
      <h2>API keys</h2>
      <ListOf loaded={keys} empty="There is no key besides the one of the environment.">
        {(items) => (
          <Table name="API keys" heads={['Key', 'Permissions', 'Made', 'Ends', '']}>
            {items.map((one) => (
              <tr key={one.id}>
                <td data-head="Key">{one.name}</td>
                <td data-head="Permissions" class="wrap">
                  <code>{one.permissions.join(' ')}</code>
                </td>
                <td data-head="Made">
                  <Time at={one.created_at} />
                </td>
                <td data-head="Ends">
                  <Time at={one.expires_at} />
                </td>
                <td>
                  {one.id !== MASTER_KEY_ID && (
                    <Action
                      sure="Revoke it?"
                      does="deleteApiKey"
                      input={{ path: { id: one.id } }}
                      needs={one.permissions}
                      done={revoked}
                    >
                      Revoke
                    </Action>
                  )}
                </td>
              </tr>
            ))}
          </Table>
        )}
      </ListOf>
      <Pages page={page} of={keys.value?.pagination} go={setPage} />
      <h2>Audit</h2>
      <ListOf loaded={audit} empty="No setting was changed over the API yet.">
        {(items) => (
          <Table name="Audit" heads={['When', 'Key', 'What', 'Change']}>
            {items.map((one) => (
              <tr key={one.id}>
                <td data-head="When">
                  <Time at={one.at} />
                </td>
                <td data-head="Key">{one.key_id}</td>
                <td data-head="What">
                  {one.action} {one.resource.replace('_', ' ')} <strong>{one.resource_id}</strong>
                </td>
                <td data-head="Change">
                  <details>
                    <summary>Show</summary>
                    <pre tabIndex={0}>
                      {JSON.stringify({ before: one.before, after: one.after, secrets: one.secrets }, bigText, 2)}
                    </pre>
                  </details>
                </td>
              </tr>
            ))}
          </Table>
        )}
      </ListOf>
      <Older parts={parts} next={audit.value?.pagination.next_cursor} />
    </>
  );
}

function bigText(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? `${value}` : value;
}
