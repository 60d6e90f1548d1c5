// SPDX-License-Identifier: BSD-2-Clause
// All that is known of the messages with an id, a queue id, a Message-ID or an
// LMTP session id.
import { useAnswer } from "./answers.js";
import { bytes, duration, moment } from "./format.js";
import { sender } from "./lists.jsx";
import { Failure, Loading } from "./notices.jsx";
import { link, messageLink } from "./route.js";
import { groupOf, State, States, words } from "./states.jsx";
import { replyText } from "./waterfall.js";
import { Waterfall } from "./waterfall.jsx";

function Fact({ name, children }) {
  const empty = children === null || children === undefined || children === ""
    || children === false;
  return empty ? null : <div><dt>{name}</dt><dd>{children}</dd></div>;
}

function clientText({ name, address, helo, port }) {
  const host = [name, address && `[${address}]${port ? `:${port}` : ""}`]
    .filter(Boolean).join(" ");
  return [host, helo && `HELO ${helo}`].filter(Boolean).join(", ");
}

function Facts({ message }) {
  const { client } = message;
  return (
    <dl class="facts">
      <Fact name="Began">{moment(message.stamps.mail
        || message.stamps.connect)}</Fact>
      <Fact name="From">{sender(message)}</Fact>
      <Fact name="Client">{clientText(client)}</Fact>
      <Fact name="TLS">{[client.tls.version, client.tls.cipher]
        .filter(Boolean).join(", ")}</Fact>
      <Fact name="SASL">{[client.sasl_user, client.sasl_method]
        .filter(Boolean).join(", ")}</Fact>
      <Fact name="Instance">{message.instance}</Fact>
      <Fact name="Queue id">{[message.queue_id, ...message.queue_ids]
        .filter(Boolean).join(", ")}</Fact>
      <Fact name="Message-ID">{message.message_id}</Fact>
      <Fact name="Size">{message.size_bytes !== null
        && bytes(message.size_bytes)}</Fact>
      <Fact name="SMTP">{`${words(message.ending)}, came to `
        + words(message.phase)}</Fact>
      <Fact name="Forged stamps">{message.forged_stamps || null}</Fact>
      <Fact name="Run">{message.run && (
        <a href={link("search", { q: `run:${message.run}` })}>{message.run}</a>
      )}</Fact>
      <Fact name="Continues">{message.previous && (
        <a href={messageLink(message.previous)}>{message.previous}</a>
      )}</Fact>
      <Fact name="Id"><code>{message.id ?? "none: only a delivery is known"}
      </code></Fact>
    </dl>
  );
}

const FILED = { stored: "stored in", forwarded: "forwarded to",
  answered: "answered to", rejected: "rejected to", discarded: "discarded" };

function Filings({ recipient }) {
  return recipient.filings.map((filing, i) => (
    <span key={i} class="note">
      {FILED[filing.action]} {filing.mailbox || filing.address}
    </span>
  ));
}

function said(recipient) {
  if (recipient.reject) return replyText(recipient.reject);
  return recipient.reply ? replyText(recipient.reply) : "";
}

function Recipients({ message }) {
  return (
    <section>
      <h3>Recipients</h3>
      <table class="messages" aria-label="Recipients">
        <thead><tr>
          <th scope="col">To</th><th scope="col">State</th>
          <th scope="col">Route</th>
          <th scope="col" class="number">Latency</th>
          <th scope="col">Said of it</th>
        </tr></thead>
        <tbody>{message.recipients.map((recipient, i) => (
          <tr key={i}>
            <td data-label="To" class="address">{recipient.address}
              {recipient.original && recipient.original !== recipient.address
                && <span class="note">was {recipient.original}</span>}</td>
            <td data-label="State"><State name={recipient.state} />
              {recipient.reason
                && <span class="note">{words(recipient.reason)}</span>}</td>
            <td data-label="Route">{recipient.route || "–"}</td>
            <td data-label="Latency" class="number">
              {duration(recipient.latency_seconds)}</td>
            <td data-label="Said of it">{said(recipient) || "–"}
              <Filings recipient={recipient} /></td>
          </tr>
        ))}</tbody>
      </table>
      {message.recipients_omitted > 0 && (
        <p class="none">{message.recipients_omitted} more are not recorded.</p>
      )}
    </section>
  );
}

function Operations({ operations }) {
  if (operations.length === 0) return null;
  return (
    <section>
      <h3>Said by operators</h3>
      <ul>{operations.map((one, i) => (
        <li key={i}>{moment(one.at)}: {words(one.kind)}
          {one.who && ` by ${one.who}`}{one.comment && `: ${one.comment}`}</li>
      ))}</ul>
    </section>
  );
}

function Lost({ message }) {
  const lost = message.recipients.filter((one) => one.state === "lost");
  if (lost.length === 0) return null;
  return (
    <p class="notice wrong" role="status" id="is-lost">
      <span aria-hidden="true">! </span>
      {lost.length === 1 ? `The mail to ${lost[0].address} is lost`
        : `The mail to ${lost.length} recipients is lost`}: Postfix accepted
      it, and there is no trace of it any more
      {lost[0].reason ? ` (${words(lost[0].reason)})` : ""}. If that is known,
      {" "}<code>postlag ack</code> says so.
    </p>
  );
}

function Message({ message }) {
  return (
    <article>
      <h2><States recipients={message.recipients} /></h2>
      <Lost message={message} />
      <Facts message={message} />
      <Waterfall message={message} />
      <Recipients message={message} />
      <Operations operations={message.operations} />
    </article>
  );
}

function pace(data) {
  const open = data?.messages.some((message) => message.recipients.some(
    (one) => groupOf(one.state).name === "waiting" || one.state === "lost"));
  return !data || open ? 5 : 60;
}

export function MessageView({ name }) {
  const url = `/api/v1/messages/${encodeURIComponent(name)}`;
  const { data, error, at } = useAnswer(url, pace);
  return (
    <>
      <h1>Message <code>{name}</code></h1>
      {error && (error.status === 404
        ? <p class="notice" role="status">No message has this id. It may be
          too old, or not stored yet; this page looks again.</p>
        : <Failure error={error} at={data && at} />)}
      {!data && !error && <Loading what="the message" lines={8} />}
      {data && data.messages.length > 1 && (
        <p class="readout">{data.messages.length} messages, newest first</p>
      )}
      {data && data.messages.map((message, i) => (
        <Message key={message.id || i} message={message} />
      ))}
      <p><a href={url}>as JSON</a></p>
    </>
  );
}
