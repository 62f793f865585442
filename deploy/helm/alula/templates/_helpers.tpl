{{/* The names of all objects begin with this one. */}}
{{- define "alula.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name }}{{ else }}{{ .Release.Name }}-{{ .Chart.Name }}{{ end -}}
{{- end }}

{{/* Labels that select the pods of a component. Argument: root, component. */}}
{{- define "alula.selector" -}}
app.kubernetes.io/name: {{ .component }}
app.kubernetes.io/instance: {{ .root.Release.Name | quote }}
{{- end }}

{{- define "alula.labels" -}}
{{ include "alula.selector" . }}
app.kubernetes.io/part-of: alula
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
{{- end }}

{{/* The kind of Alula's workload. */}}
{{- define "alula.kind" -}}
{{ ternary "StatefulSet" "Deployment" .Values.proxy.enabled }}
{{- end }}

{{/* The settings file: the values, and before them those that Kubernetes needs. */}}
{{- define "alula.settings" -}}
{{- $name := include "alula.name" . }}
{{- $hosts := list }}
{{- range list "" (printf ".%s" .Release.Namespace) (printf ".%s.svc" .Release.Namespace) (printf ".%s.svc.%s" .Release.Namespace .Values.clusterDomain) }}
{{- $hosts = append $hosts (printf "%s-admin%s" $name .) }}
{{- end }}
{{- /* HAProxy leaves a pod 2 s after its readiness fails, so drainDelay is longer; shutdownTimeout is longer than requestTimeout. */}}
{{- $settings := dict "adminBind" "0.0.0.0" "adminHosts" $hosts "requireSandbox" "on" "drainDelay" "4s" "shutdownTimeout" "16s" }}
{{- if .Values.proxy.enabled }}
{{- /* The networks of pods: HAProxy names the client. */}}
{{- $_ := set $settings "trustedProxies" (list "10.0.0.0/8" "100.64.0.0/10" "172.16.0.0/12" "192.168.0.0/16" "fd00::/8") }}
{{- end }}
{{- if .Values.sharedCache.enabled }}
{{- $_ := set $settings "sharedCache" (printf "redis://%s-valkey:6379/0" $name) }}
{{- end }}
{{- mergeOverwrite $settings (deepCopy .Values.settings) | toPrettyJson }}
{{- end }}

{{/* Spreads the pods of a component over zones and nodes. */}}
{{- define "alula.spread" -}}
{{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
- maxSkew: 1
  topologyKey: {{ . }}
  whenUnsatisfiable: ScheduleAnyway
  labelSelector:
    matchLabels:
      {{- include "alula.selector" $ | nindent 6 }}
{{- end }}
{{- end }}

{{- define "alula.containerSecurity" -}}
readOnlyRootFilesystem: true
allowPrivilegeEscalation: false
capabilities: { drop: [ALL] }
{{- end }}
