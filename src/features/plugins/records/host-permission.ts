import { z } from 'zod';

/** The methods that a plugin may be granted; CONNECT and TRACE are never among them (Fetch Standard 2.2.1). */
export const FETCH_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

const MEBIBYTE = 1_048_576;

/** A host as a grant names it. */
export interface HostPattern {
  /** As a URL's `hostname` has it: lower case, IDNA, no trailing dot. For a wildcard, the part after `*.`. */
  name: string;
  /** Any host below the name, not the name itself. */
  isWildcard: boolean;
  /** Undefined: the default port of the URL's scheme. */
  port: number | undefined;
}

/** Reads `api.example.com`, `*.example.com` or `api.example.com:8443`; undefined when it is none of them. */
export function hostPattern(text: string): HostPattern | undefined {
  const [, wildcard, host = '', digits] =
    /^(\*\.)?(\[[\da-f:.]+\]|[^\s*:/?#@\\[\]]+)(?::(\d{1,5}))?$/i.exec(text) ?? [];
  const url = URL.parse(`http://${host}`);
  const port = digits === undefined ? undefined : Number(digits);
  if (url === null || (port !== undefined && !(port >= 1 && port <= 65_535))) return undefined;
  const name = canonicalHostname(url);
  const isAddress = name.startsWith('[') || /^[\d.]+$/.test(name);
  if (name === '' || (wildcard !== undefined && isAddress)) return undefined;
  return { name, isWildcard: wildcard !== undefined, port };
}

/** A URL's host name without the dot that DNS allows at its end. */
export function canonicalHostname({ hostname }: URL): string {
  return hostname.replace(/\.$/, '');
}

const grantSchema = z
  .strictObject({
    host: z
      .string()
      .refine(
        (text) => hostPattern(text) !== undefined,
        'name a host as api.example.com, *.example.com or api.example.com:8443',
      )
      .describe('Host, like api.example.com, *.example.com or api.example.com:8443. Default ports: 80 and 443'),
    methods: z
      .array(z.enum(FETCH_METHODS))
      .min(1, 'name at least one, or leave it out: then any is allowed')
      .optional()
      .describe('HTTP methods that are allowed. Default: all'),
    max_bytes: z
      .int()
      .min(1)
      .max(16 * MEBIBYTE)
      .default(MEBIBYTE)
      .describe('Maximum size of a sent or received body, uncompressed, in bytes'),
    timeout_ms: z
      .int()
      .min(1)
      .max(300_000)
      .default(10_000)
      .describe('Maximum duration of a fetch with its redirects, in milliseconds'),
    private: z.boolean().default(false).describe('Whether the host may be in a private network or on this machine'),
  })
  .refine(({ host, private: isPrivate }) => !isPrivate || hostPattern(host)?.isWildcard !== true, {
    path: ['private'],
    error: 'name the host in full: a wildcard cannot open the private network',
  });

const { $schema: _, ...grantForm } = z.toJSONSchema(grantSchema, { io: 'input', unrepresentable: 'any' });

/** One entry of a plugin's `permissions.hosts`: a host, or an object with its limits. */
export const hostPermissionSchema = z
  .preprocess((value) => (typeof value === 'string' ? { host: value } : value), grantSchema)
  .meta({ anyOf: [{ type: 'string', minLength: 1 }, grantForm] });

export type HostPermission = z.output<typeof hostPermissionSchema>;
