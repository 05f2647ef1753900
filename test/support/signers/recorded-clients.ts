/**
 * What official clients sent, with keys that were made for it: `@coinbase/cdp-sdk` 1.57.0 (`evm.signHash`, `evm.signTypedData`),
 * and `@turnkey/http` 6.6.0 with `@turnkey/api-key-stamper` 0.6.17 (`signRawPayload` for each curve, `getActivity`). To have
 * them here would take 135 and 35 MB.
 */
export const recorded = {
  cdp: {
    apiKeyId: 'ccb37107-3ad6-4e0d-8944-1453dc16d64d',
    apiKeySecret: 'DAxjA9ZDBsCF2qISpCAaNycs4bTcL9jVxrPlArJvNrZctRtc0vdjp+NzIJ245ANMW6S8PrLROAR9zdPGVIYPpQ==',
    walletSecret:
      'MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgDPxHEs2x+3t0kk6bhvkkbcsCXGlCu+Brpt7nM9I/VTyhRANCAAQHo5qVaIincICTEMdWBpaMzlhpyE49vFuAstwVUwurBfkhWQvI/0c85ITWuYBM64mHAcRDSmu6/jayY7ivlHN6',
    at: 1795546826600,
    asked: [
      {
        url: 'http://api.cdp.coinbase.com/platform/v2/evm/accounts/0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf/sign',
        headers: {
          'content-type': 'application/json',
          authorization:
            'Bearer eyJhbGciOiJFZERTQSIsImtpZCI6ImNjYjM3MTA3LTNhZDYtNGUwZC04OTQ0LTE0NTNkYzE2ZDY0ZCIsInR5cCI6IkpXVCIsIm5vbmNlIjoiNjFkZmNmN2FmYmI1YTMwYWUxNmJkNGRmN2IxNjdlMWEifQ.eyJzdWIiOiJjY2IzNzEwNy0zYWQ2LTRlMGQtODk0NC0xNDUzZGMxNmQ2NGQiLCJpc3MiOiJjZHAiLCJ1cmlzIjpbIlBPU1QgYXBpLmNkcC5jb2luYmFzZS5jb20vcGxhdGZvcm0vdjIvZXZtL2FjY291bnRzLzB4N0U1RjQ1NTIwOTFBNjkxMjVkNURmQ2I3YjhDMjY1OTAyOTM5NUJkZi9zaWduIl0sImlhdCI6MTc5NTU0NjgyNiwibmJmIjoxNzk1NTQ2ODI2LCJleHAiOjE3OTU1NDY5NDZ9.FSm_aeCRE_FvCiM9Q6XFVgJt40WV_NJWsxh0NByHhqY2XFKMiodzONS1mpnZDCZHUCw_J-5CCbEw7eUC-D6sDA',
          'x-wallet-auth':
            'eyJhbGciOiJFUzI1NiIsInR5cCI6IkpXVCJ9.eyJ1cmlzIjpbIlBPU1QgYXBpLmNkcC5jb2luYmFzZS5jb20vcGxhdGZvcm0vdjIvZXZtL2FjY291bnRzLzB4N0U1RjQ1NTIwOTFBNjkxMjVkNURmQ2I3YjhDMjY1OTAyOTM5NUJkZi9zaWduIl0sInJlcUhhc2giOiJiZTI3YTk5M2ZlMmI5OWNlNmFhZjgzMTg2ODJjNzU1Y2QyMTI1NjM0OTFkY2IwZjI0ZjFlYzdiYWY5MmI4ZWVkIiwiaWF0IjoxNzk1NTQ2ODI2LCJuYmYiOjE3OTU1NDY4MjYsImp0aSI6IjlhZGYyZDQzMTAyZTY2ZjhjYWEzMmI1Y2VhNjA2NTEyIn0.sq2h42AX3ixMEzlmQd3csMRebczUQrN-S3_2OHzUvNIY-dbG7lv2y_-vbmhr3HWZaPLKIsi3nCeRcsQsDiNxBg',
        },
        body: '{"hash":"0xabababababababababababababababababababababababababababababababab"}',
      },
      {
        url: 'http://api.cdp.coinbase.com/platform/v2/evm/accounts/0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf/sign/typed-data',
        headers: {
          'content-type': 'application/json',
          authorization:
            'Bearer eyJhbGciOiJFZERTQSIsImtpZCI6ImNjYjM3MTA3LTNhZDYtNGUwZC04OTQ0LTE0NTNkYzE2ZDY0ZCIsInR5cCI6IkpXVCIsIm5vbmNlIjoiODJiYzZhNmZiMTAyZDJmNWFhOTkxNjQwNDI1NTI0NDgifQ.eyJzdWIiOiJjY2IzNzEwNy0zYWQ2LTRlMGQtODk0NC0xNDUzZGMxNmQ2NGQiLCJpc3MiOiJjZHAiLCJ1cmlzIjpbIlBPU1QgYXBpLmNkcC5jb2luYmFzZS5jb20vcGxhdGZvcm0vdjIvZXZtL2FjY291bnRzLzB4N0U1RjQ1NTIwOTFBNjkxMjVkNURmQ2I3YjhDMjY1OTAyOTM5NUJkZi9zaWduL3R5cGVkLWRhdGEiXSwiaWF0IjoxNzk1NTQ2ODI2LCJuYmYiOjE3OTU1NDY4MjYsImV4cCI6MTc5NTU0Njk0Nn0.QctZNqYlTJxLU9-Kyvq6mFfSbA1SJ1ectLCQeRs8eTlbCGbWC9FZUywiwLBt4tfT88DBYK6pCDO74aDECPDkCA',
          'x-wallet-auth':
            'eyJhbGciOiJFUzI1NiIsInR5cCI6IkpXVCJ9.eyJ1cmlzIjpbIlBPU1QgYXBpLmNkcC5jb2luYmFzZS5jb20vcGxhdGZvcm0vdjIvZXZtL2FjY291bnRzLzB4N0U1RjQ1NTIwOTFBNjkxMjVkNURmQ2I3YjhDMjY1OTAyOTM5NUJkZi9zaWduL3R5cGVkLWRhdGEiXSwicmVxSGFzaCI6Ijc4NzEwMzMyMDg2NDFkYTVjOWFiM2NmZWNmM2NjYTI1N2ZkNzE2NWI2YmFhNTY2YzQ5MTg2NzQyNTU4MGI3NmUiLCJpYXQiOjE3OTU1NDY4MjYsIm5iZiI6MTc5NTU0NjgyNiwianRpIjoiYmQ2MWRiMjExYWY4NWE4OWJmZWM3NGE5ODQyYTM0YjQifQ.VfzebajQPhcWsjr1Tiy9zd17TO_qIdj1LEY-RAP3JS-APNVKhAAmCFdUdSQfGO57EyBMBneBTYFEa9Cur-V8bA',
        },
        body: '{"domain":{"name":"Permit","chainId":1,"verifyingContract":"0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf"},"types":{"EIP712Domain":[{"name":"name","type":"string"},{"name":"chainId","type":"uint256"},{"name":"verifyingContract","type":"address"}],"Mail":[{"name":"to","type":"address"},{"name":"amount","type":"uint256"}]},"primaryType":"Mail","message":{"to":"0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf","amount":"2"}}',
      },
    ],
  },
  turnkey: {
    apiPrivateKey: 'a1e9fd139f82ee98cf0c95acb36af7b934e6116311928d0596ad068daaf6deda',
    organizationId: 'baaa6346-518f-4b7b-aec5-803f5bac2507',
    privateKeyId: '8c465695-06cc-48e0-915f-a29b412bc018',
    at: 1795546827059,
    asked: [
      {
        url: 'https://api.turnkey.com/public/v1/submit/sign_raw_payload',
        headers: {
          'content-type': 'application/json',
          'x-stamp':
            'eyJwdWJsaWNLZXkiOiIwMzE0Y2E2Mjk1YmVlYmVkYTU2MmVjN2FjZmNkMDBjMzE1NTk4Yjg5ZjA3NjkwMzMxNDAyYjdmY2RkODQ3MDgyMDMiLCJzY2hlbWUiOiJTSUdOQVRVUkVfU0NIRU1FX1RLX0FQSV9QMjU2Iiwic2lnbmF0dXJlIjoiMzA0NDAyMjEwMGVlZWVkOWI5NTA5ZTNlNjM3N2UzYjQyYTFlNGE1NTNmMDYzNGVhNGVkMjY3ZThiZWQzMGNiNjRlZDVjYjY2YmUwMjFmMmI4Nzg4NmI5ZmQ5MzkzZDVmMzFiNGViODRmMTRiOGIxZGMyZTIwYTUxNDBjMTNhZDVmYTY1NDdjZWU0ZDgifQ',
        },
        body: '{"type":"ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2","timestampMs":"1795546827059","organizationId":"baaa6346-518f-4b7b-aec5-803f5bac2507","parameters":{"signWith":"8c465695-06cc-48e0-915f-a29b412bc018","payload":"abababababababababababababababababababababababababababababababab","encoding":"PAYLOAD_ENCODING_HEXADECIMAL","hashFunction":"HASH_FUNCTION_NO_OP"}}',
      },
      {
        url: 'https://api.turnkey.com/public/v1/submit/sign_raw_payload',
        headers: {
          'content-type': 'application/json',
          'x-stamp':
            'eyJwdWJsaWNLZXkiOiIwMzE0Y2E2Mjk1YmVlYmVkYTU2MmVjN2FjZmNkMDBjMzE1NTk4Yjg5ZjA3NjkwMzMxNDAyYjdmY2RkODQ3MDgyMDMiLCJzY2hlbWUiOiJTSUdOQVRVUkVfU0NIRU1FX1RLX0FQSV9QMjU2Iiwic2lnbmF0dXJlIjoiMzA0NTAyMjEwMDhiZWFlMGY2YzEwOTkwMmE2ODQyMWVhYzE1YmJmNzZlMzM5MWViMzEzZTk4NDJjNDJlYzZjMmJiMmQ3YjkyMWUwMjIwM2U0NzAzN2RjODNjNjRmNThjZjY5YjU5NzljNDhlZDE4NGY2ZmViZTVkMWZkMDI0MjNlODVlMjliMjE1NGE5ZiJ9',
        },
        body: '{"type":"ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2","timestampMs":"1795546827059","organizationId":"baaa6346-518f-4b7b-aec5-803f5bac2507","parameters":{"signWith":"8c465695-06cc-48e0-915f-a29b412bc018","payload":"abababababababababababababababababababababababababababababababab","encoding":"PAYLOAD_ENCODING_HEXADECIMAL","hashFunction":"HASH_FUNCTION_NOT_APPLICABLE"}}',
      },
      {
        url: 'https://api.turnkey.com/public/v1/query/get_activity',
        headers: {
          'content-type': 'application/json',
          'x-stamp':
            'eyJwdWJsaWNLZXkiOiIwMzE0Y2E2Mjk1YmVlYmVkYTU2MmVjN2FjZmNkMDBjMzE1NTk4Yjg5ZjA3NjkwMzMxNDAyYjdmY2RkODQ3MDgyMDMiLCJzY2hlbWUiOiJTSUdOQVRVUkVfU0NIRU1FX1RLX0FQSV9QMjU2Iiwic2lnbmF0dXJlIjoiMzA0NDAyMjA3MjczNmQ2NDgzMWQ5N2VlZjE2YzBmZTU4OTVkZmVhODJhZjk3ZmEzNjJmYTg2OGRlM2QzM2MxYWUyM2FjMWNhMDIyMDc5NDNhNWE1NzMwMjBiYTc0MTU5NzVkNTExYTAzZGVlMDg3ZjQ5MWJlZjNmMTQ4YmI3M2U2YjIyOWQ4YzlkNGQifQ',
        },
        body: '{"organizationId":"baaa6346-518f-4b7b-aec5-803f5bac2507","activityId":"5c332e82-36f2-4a82-9592-42fa619f5ede"}',
      },
    ],
  },
} as const;
