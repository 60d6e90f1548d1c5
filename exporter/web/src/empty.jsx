// SPDX-License-Identifier: BSD-2-Clause
// A store without a message: what may be missing, instead of empty charts.
export function Empty({ summary }) {
  return (
    <section class="empty">
      <h1>No mail has been seen yet</h1>
      <p>The exporter runs{summary.ready ? " and is ready" : ""}, and its store
        is empty. This page changes by itself when the first message comes.</p>
      <p>If mail flows already, one of these is missing:</p>
      <ul>
        <li><code>smtpd_milters</code> of Postfix names postlag-milter, and it
          runs: <code>systemctl status postlag-milter</code></li>
        <li>The exporter reads the directory that the milter writes:
          {" "}<code>postlag config</code> shows <code>journal</code></li>
        <li>Deliveries go through postlag-lmtp, or the exporter reads Postfix's
          log: <code>maillog</code></li>
      </ul>
    </section>
  );
}
